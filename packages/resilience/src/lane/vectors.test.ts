import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'vitest'
import type { Outcome } from '../classify/outcome.ts'
import { isAnswer, spend, fullCredit, type CreditPolicy } from './credit.ts'
import { DEFAULT_CREDIT } from './credit-policy.ts'
import { runCredit, type CreditCase } from './credit-vectors.test-kit.ts'
import { kindAfter, type StartKind } from './kind.ts'
import { rampLimit, rampReaches } from './ramp.ts'
import { giveSlotBack, joinShares, newShares, setReady, type LaneShare } from './share.ts'
import { fill } from './share.test-kit.ts'

type Step =
  | { readonly do: 'ready' | 'unready' | 'end'; readonly lanes: readonly string[] }
  | { readonly do: 'fill'; readonly most?: number; readonly served: readonly string[] }

interface Sharing {
  readonly name: string
  readonly slots: number
  readonly steps: readonly Step[]
}

interface Vectors {
  readonly about: string
  readonly defaults: CreditPolicy
  readonly ramp: readonly { readonly sinceMs: number; readonly limit: number }[]
  readonly shares: readonly Sharing[]
  readonly kinds: readonly { readonly attemptsMade: number; readonly kind: StartKind }[]
  readonly answers: readonly { readonly outcome: Outcome; readonly status?: number; readonly isAnswer: boolean }[]
  readonly intervals: readonly { readonly emptyMs: number; readonly roll: number; readonly ms: number }[]
  readonly credit: readonly CreditCase[]
}

describe('vectors/lanes.json', () => {
  const url = new URL('../../../../vectors/lanes.json', import.meta.url)
  const vectors = JSON.parse(readFileSync(url, 'utf8')) as Vectors
  const { about: _, defaults, ramp, shares, kinds, answers, intervals, credit, ...rest } = vectors

  it('has no field that nobody reads', () => assert.deepEqual(rest, {}))

  it('has the defaults of a lane', () => assert.deepEqual(defaults, DEFAULT_CREDIT))

  for (const { sinceMs, limit, ...rest } of ramp)
    it(`ramp: ${limit} after ${sinceMs} ms`, () => {
      assert.deepEqual(rest, {})
      assert.equal(rampLimit(1_000, 1_000 + sinceMs), limit)
      assert.ok(rampReaches(limit, 1_000) <= 1_000 + sinceMs)
    })

  for (const { name, slots, steps, ...rest } of shares)
    it(`shares: ${name}`, () => {
      assert.deepEqual(rest, {})
      run(slots, steps)
    })

  for (const { attemptsMade, kind, ...rest } of kinds)
    it(`kinds: ${kind} after ${attemptsMade} attempts`, () => {
      assert.deepEqual(rest, {})
      assert.equal(kindAfter(attemptsMade), kind)
    })

  for (const { outcome, status, isAnswer: expected, ...rest } of answers)
    it(`answers: ${JSON.stringify(outcome)} with ${status ?? 'no'} status: ${expected}`, () => {
      assert.deepEqual(rest, {})
      assert.equal(isAnswer(outcome, status), expected)
    })

  for (const { emptyMs, roll, ms, ...rest } of intervals)
    it(`intervals: ${ms} ms after ${emptyMs} ms, with the die at ${roll}`, () => {
      assert.deepEqual(rest, {})
      assert.equal(waitAfterProbe(emptyMs, roll), ms)
    })

  for (const { name, policy, steps, ...rest } of credit)
    it(`credit: ${name}`, () => {
      assert.deepEqual(rest, {})
      runCredit(policy, steps)
    })
})

function waitAfterProbe(emptyMs: number, roll: number): number {
  const emptySince = 1_000_000
  const state = fullCredit(DEFAULT_CREDIT)
  Object.assign(state.purses.first, { balance: 0, emptySince, probeAt: emptySince })
  const now = emptySince + emptyMs
  spend(DEFAULT_CREDIT, state, 'first', { now, roll })
  return state.purses.first.probeAt - now
}

function run(slots: number, steps: readonly Step[]): void {
  const shares = newShares<string>(slots)
  const known = new Map<string, LaneShare<string>>()
  const laneOf = (name: string): LaneShare<string> => {
    const lane = known.get(name) ?? joinShares(shares, name.split('/')[0]!, name)
    known.set(name, lane)
    return lane
  }

  for (const [place, step] of steps.entries()) {
    if (step.do === 'fill') {
      const { do: _, most = Infinity, served, ...rest } = step
      assert.deepEqual(rest, {})
      assert.deepEqual(fill(shares, most), served, `step ${place + 1}`)
    } else {
      const { do: verb, lanes, ...rest } = step
      assert.deepEqual(rest, {})
      for (const name of lanes)
        if (verb === 'end') giveSlotBack(shares, laneOf(name))
        else setReady(shares, laneOf(name), verb === 'ready')
    }
  }
}
