import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { seededRandom, virtualClock } from '../testing/index.ts'
import { delayRange } from './backoff.ts'
import { historyOf } from './history.ts'
import { DEFAULT_POLICY, type RetryPolicy } from './policy.ts'
import { retry } from './run.ts'
import { reset } from './scripted.test-kit.ts'

/** Any policy that can be kept, small enough to be played to its end. */
const anyPolicy: fc.Arbitrary<RetryPolicy> = fc
  .record({
    maxAttempts: fc.integer({ min: 1, max: 8 }),
    backoffType: fc.constantFrom('EXPONENTIAL', 'LINEAR', 'FIXED', 'FIBONACCI'),
    initialDelayMs: fc.integer({ min: 0, max: 500 }),
    multiplier: fc.constantFrom(1, 1.5, 2, 3),
    minDelayMs: fc.integer({ min: 0, max: 50 }),
    maxDelayMs: fc.integer({ min: 500, max: 5_000 }),
    jitterType: fc.constantFrom('NONE', 'FULL', 'EQUAL', 'DECORRELATED', 'PROPORTIONAL'),
    totalBudgetMs: fc.integer({ min: 1, max: 20_000 }),
    attemptTimeoutMs: fc.integer({ min: 1, max: 3_000 }),
  })
  .map(part => ({
    ...DEFAULT_POLICY,
    ...part,
    attemptTimeoutMs: Math.min(part.attemptTimeoutMs, part.totalBudgetMs),
  }))

/** What each attempt does: how long it takes and whether it then succeeds. */
const anyCalls = fc.array(fc.record({ tookMs: fc.integer({ min: 0, max: 4_000 }), succeeds: fc.boolean() }), {
  minLength: 1,
  maxLength: 9,
})

interface Played {
  readonly begins: number[]
  readonly endedAt: number
  readonly value?: unknown
  readonly error?: unknown
}

async function play(
  policy: RetryPolicy,
  calls: readonly { tookMs: number; succeeds: boolean }[],
  seed: number,
): Promise<Played> {
  const clock = virtualClock()
  const begins: number[] = []
  const work = async (): Promise<string> => {
    const call = calls[Math.min(begins.push(clock.monotonic()), calls.length) - 1]!
    await clock.sleep(call.tookMs)
    if (!call.succeeds) throw reset()
    return 'yes'
  }
  let endedAt = NaN
  const result = retry(work, policy, { ports: { clock, random: seededRandom(seed) }, budget: false }).then(
    value => ((endedAt = clock.monotonic()), { value }),
    (error: unknown) => ((endedAt = clock.monotonic()), { error }),
  )
  await clock.drain()
  return { begins, endedAt, ...(await result) }
}

describe('retry, for any policy and any behaviour of the call', () => {
  it('ends by the deadline, within maxAttempts, every wait in its advertised range', async () => {
    await fc.assert(
      fc.asyncProperty(anyPolicy, anyCalls, fc.integer(), async (policy, calls, seed) => {
        const { begins, endedAt, error } = await play(policy, calls, seed)
        assert.ok(begins.length >= 1 && begins.length <= policy.maxAttempts)
        assert.ok(endedAt <= policy.totalBudgetMs, `ended at ${endedAt}`)
        const longest = Math.max(...calls.map(({ tookMs }) => tookMs))
        const widest = policy.maxDelayMs * (1 + policy.jitterRatio)
        assert.ok(endedAt <= policy.maxAttempts * (widest + longest))
        checkWaits(policy, calls, begins)
        if (error !== undefined) assert.notEqual(historyOf(error), undefined)
      }),
      { numRuns: 150 },
    )
  })

  it('succeeds if one of the calls it may make would succeed in time', async () => {
    await fc.assert(
      fc.asyncProperty(anyPolicy, fc.integer({ min: 1, max: 8 }), fc.integer(), async (policy, nth, seed) => {
        fc.pre(nth <= policy.maxAttempts)
        const roomy = { ...policy, totalBudgetMs: 600_000 }
        const calls = Array.from({ length: nth }, (_, n) => ({ tookMs: 0, succeeds: n + 1 === nth }))
        const { value, begins } = await play(roomy, calls, seed)
        assert.equal(value, 'yes')
        assert.equal(begins.length, nth)
      }),
      { numRuns: 100 },
    )
  })
})

function checkWaits(policy: RetryPolicy, calls: readonly { tookMs: number }[], begins: readonly number[]): void {
  let previousDelayMs = policy.initialDelayMs
  for (let attempt = 1; attempt < begins.length; attempt++) {
    const tookMs = Math.min(calls[Math.min(attempt, calls.length) - 1]!.tookMs, policy.attemptTimeoutMs)
    const waitedMs = begins[attempt]! - begins[attempt - 1]! - tookMs
    const { minMs, maxMs } = delayRange(policy, { attempt, previousDelayMs })
    assert.ok(waitedMs >= minMs && waitedMs <= maxMs, `waited ${waitedMs}, not ${minMs} to ${maxMs}`)
    previousDelayMs = waitedMs
  }
}

describe('races', () => {
  it('between result, time-out and abort have one winner, and a success that came first is kept', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async scheduler => {
        const clock = virtualClock()
        const controller = new AbortController()
        const reason = new Error('aborted')
        const call = scheduler.schedule(Promise.resolve('value'), 'call')
        let settledFirst = ''
        void call.then(() => (settledFirst ||= 'call'))
        void scheduler
          .schedule(Promise.resolve(), 'abort')
          .then(() => ((settledFirst ||= 'abort'), controller.abort(reason)))
        void scheduler.schedule(Promise.resolve(), 'time').then(() => clock.advance(1_000))
        const settled: unknown[] = []
        const result = retry(
          () => call,
          { maxAttempts: 2, attemptTimeoutMs: 100 },
          { ports: { clock }, signal: controller.signal },
        ).then(
          value => settled.push(value),
          (error: unknown) => settled.push(error),
        )
        await scheduler.waitAll()
        await clock.drain()
        await result
        assert.equal(settled.length, 1)
        if (settledFirst === 'call') assert.equal(settled[0], 'value')
        assert.ok(settled[0] === 'value' || settled[0] === reason)
        assert.equal(clock.pending, 0)
      }),
      { numRuns: 100 },
    )
  })
})
