import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'vitest'
import type { Failure, Outcome } from '../classify/outcome.ts'
import { presets, type Presets } from '../presets/presets.ts'
import { delayMs, delayRange, plainDelayMs } from './backoff.ts'
import { decide, type Decision, type Moment, type RetryState } from './decide.ts'
import { checkRetryPolicy, DEFAULT_POLICY, type RetryPolicy } from './policy.ts'
import { askedWaitOf } from './rate-limit-headers.ts'
import { retryAfterOf, type HeaderSource } from './retry-after.ts'

describe('vectors/decide.json', () => {
  interface Case {
    readonly name: string
    readonly policy: Partial<RetryPolicy>
    readonly state: RetryState
    readonly outcome: Outcome
    readonly moment: Moment
    readonly decision: Decision
  }
  const { cases } = readVectors<{ cases: Case[] }>('decide.json', ['defaults', 'cases'])

  for (const { name, policy, state, outcome, moment, decision, ...rest } of cases)
    it(name, () => {
      refuseUnknown(rest)
      refuseUnknown(state, ['attempt', 'startedAt', 'previousDelayMs', 'once', 'deadlineAt'])
      refuseUnknown(outcome, ['kind', 'fault', 'retryAfterMs', 'unsent', 'unknown'] satisfies (keyof Failure)[])
      refuseUnknown(moment, ['now', 'roll', 'expectedCallMs'])
      assert.deepEqual(decide(completed(policy), state, outcome, moment), decision)
    })

  it('shows every reason that the rule can give', () => {
    const reasons = cases.flatMap(({ decision }) => (decision.kind === 'give-up' ? [decision.reason] : []))
    assert.deepEqual([...new Set(reasons)].toSorted(), [
      'attempts',
      'deadline',
      'not-idempotent',
      'not-replayable',
      'permanent',
      'retry-after-too-long',
    ])
  })
})

describe('vectors/backoff.json', () => {
  interface Wait {
    readonly attempt: number
    readonly previousDelayMs?: number
    readonly roll: number
    readonly ms: number
    readonly msCappedBeforeDraw?: number
  }
  interface Case {
    readonly name: string
    readonly source?: string
    readonly policy: Partial<RetryPolicy>
    readonly waits: readonly Wait[]
  }
  const { cases } = readVectors<{ cases: Case[] }>('backoff.json', ['defaults', 'cases'])

  for (const { name, source: _, policy: part, waits, ...rest } of cases)
    it(name, () => {
      refuseUnknown(rest)
      const policy = completed(part)
      for (const { attempt, previousDelayMs = policy.initialDelayMs, roll, ms, msCappedBeforeDraw, ...rest } of waits) {
        refuseUnknown(rest)
        const state = { attempt, previousDelayMs }
        assert.equal(delayMs(policy, state, roll), ms, `attempt ${attempt}, roll ${roll}`)
        const { minMs, maxMs } = delayRange(policy, state)
        assert.ok(ms >= minMs && ms <= maxMs, `attempt ${attempt}: ${ms} is not within ${minMs} to ${maxMs}`)
        if (policy.jitterType === 'DECORRELATED')
          assert.equal(cappedBeforeDraw(policy, previousDelayMs, roll), msCappedBeforeDraw)
      }
    })

  it('shows a die for which the two readings of the decorrelated cap differ', () => {
    const waits = cases.flatMap(({ waits }) => waits).filter(wait => wait.msCappedBeforeDraw !== undefined)
    assert.ok(waits.some(({ ms, msCappedBeforeDraw }) => ms !== msCappedBeforeDraw))
    assert.ok(waits.some(({ ms, msCappedBeforeDraw }) => ms === msCappedBeforeDraw))
  })

  /** The other reading, which is nobody's rule here. */
  function cappedBeforeDraw(policy: RetryPolicy, previousDelayMs: number, roll: number): number {
    const { initialDelayMs, maxDelayMs, minDelayMs } = policy
    const upper = Math.min(maxDelayMs, 3 * Math.max(initialDelayMs, previousDelayMs))
    const drawn = initialDelayMs + Math.floor(roll * (upper - initialDelayMs + 1))
    return Math.max(minDelayMs, Math.min(upper, drawn))
  }
})

describe('vectors/schedule.json', () => {
  interface Case {
    readonly name: string
    readonly source: string
    readonly preset: keyof Presets
    readonly policy: Partial<RetryPolicy>
    readonly plainMs: readonly number[]
    readonly minMs: readonly number[]
    readonly maxMs: readonly number[]
    readonly cumulativePlainMs: number
  }
  const { cases } = readVectors<{ cases: Case[] }>('schedule.json', ['defaults', 'cases'])

  for (const { name, source: _, preset, policy, plainMs, minMs, maxMs, cumulativePlainMs, ...rest } of cases)
    it(name, () => {
      refuseUnknown(rest)
      const expected = { plainMs, minMs, maxMs }
      assert.deepEqual(schedule(completed(policy), plainMs.length), expected)
      assert.equal(
        plainMs.reduce((sum, ms) => sum + ms, 0),
        cumulativePlainMs,
      )
      assert.deepEqual(schedule(presets[preset].retry, plainMs.length), expected, `presets.${preset}`)
    })

  function schedule(policy: RetryPolicy, length: number): Pick<Case, 'plainMs' | 'minMs' | 'maxMs'> {
    const retries = Array.from({ length }, (_, index) => index + 1)
    const ranges = retries.map(attempt => delayRange(policy, { attempt, previousDelayMs: policy.initialDelayMs }))
    return {
      plainMs: retries.map(retry => plainDelayMs(policy, retry)),
      minMs: ranges.map(range => range.minMs),
      maxMs: ranges.map(range => range.maxMs),
    }
  }
})

describe('vectors/retry-after.json', () => {
  interface Case {
    readonly name: string
    readonly headers: HeaderSource
    readonly ms: number | null
  }
  interface File {
    readonly now: number
    readonly cases: readonly Case[]
    readonly relatives: readonly Case[]
  }
  const { now, cases, relatives } = readVectors<File>('retry-after.json', ['now', 'cases', 'relatives'])

  for (const { name, headers, ms, ...rest } of cases)
    it(`Retry-After: ${name}`, () => {
      refuseUnknown(rest)
      assert.equal(retryAfterOf(headers, now) ?? null, ms)
      assert.equal(askedWaitOf(headers, now) ?? null, ms)
    })

  for (const { name, headers, ms, ...rest } of relatives)
    it(`relatives: ${name}`, () => {
      refuseUnknown(rest)
      assert.equal(askedWaitOf(headers, now) ?? null, ms)
    })

  it('reads Headers as it reads plain objects', () => {
    for (const { name, headers, ms } of cases) {
      const given = new Headers(Object.entries(headers).map(([field, value]) => [field, String(value)]))
      assert.equal(retryAfterOf(given, now) ?? null, ms, name)
    }
  })
})

function completed(part: Partial<RetryPolicy>): RetryPolicy {
  const checked = checkRetryPolicy(part)
  assert.deepEqual(checked.problems, undefined)
  // What the check fills in must be what the file says: another language has nothing but the file.
  assert.deepEqual(checked.policy, { ...DEFAULT_POLICY, ...part })
  return checked.policy
}

function readVectors<File>(name: string, lists: readonly string[]): File {
  const file = JSON.parse(readFileSync(new URL(`../../../../vectors/${name}`, import.meta.url), 'utf8')) as {
    readonly defaults?: unknown
  }
  refuseUnknown(file, ['about', ...lists])
  if (lists.includes('defaults')) assert.deepEqual(file.defaults, DEFAULT_POLICY)
  return file as File
}

function refuseUnknown(value: object, known: readonly string[] = []): void {
  assert.deepEqual(
    Object.keys(value).filter(field => !known.includes(field)),
    [],
  )
}
