import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { checkLane, DEFAULT_LANE, withLaneDefaults } from './policy.ts'

const problemsOf = (input: unknown): string[] => checkLane(input).map(({ at, say }) => `${at}: ${say}`)

describe("a lane's document", () => {
  it('may leave out everything', () => {
    assert.deepEqual(problemsOf({}), [])
    assert.deepEqual(withLaneDefaults({}), DEFAULT_LANE)
    assert.deepEqual(checkLane(DEFAULT_LANE), [])
  })

  it('keeps the defaults of a lane beside what is given', () => {
    const { credit, budget, rateLimit, limiter } = withLaneDefaults({
      credit: { probeMinMs: 2_000 },
      rateLimit: { perSecond: 0.5 },
      limiter: { kind: 'vegas' },
    })
    assert.deepEqual(credit, { ...DEFAULT_LANE.credit, probeMinMs: 2_000 })
    assert.equal(budget, undefined, 'retries may be any part of the load, unless a budget is set')
    assert.deepEqual(rateLimit, { perSecond: 0.5, burst: 1 })
    assert.equal(limiter?.initialLimit, 20)
  })

  it('is refused with all of its problems at once, and what would be right', () => {
    assert.deepEqual(
      problemsOf({ limt: 3, limit: 0, concurrency: 2, credit: { probeMinMs: -1 }, limiter: { kind: 'tcp' } }),
      [
        'limt: is an unknown field; did you mean limit?',
        'limit: must be a whole number from 1 to 1000000',
        'concurrency: is an unknown field; did you mean limit?',
        'credit.probeMinMs: must be a whole number from 100 to 86400000',
        'limiter.kind: must be one of vegas, gradient2, aimd',
      ],
    )
    assert.deepEqual(problemsOf(7), [': must be an object with the fields of a lane; {} has its defaults'])
  })

  it('has no budget that would hold a lane of nothing but retries for ever', () => {
    assert.deepEqual(problemsOf({ budget: { kind: 'tokens', maxTokens: 10, tokenRatio: 0.1 } }), [
      'budget.kind: must be ratio or rate: no other is refilled while retries wait',
    ])
    assert.deepEqual(problemsOf({ budget: { kind: 'ratio', ratio: 0.1, windowMs: 10_000, minRetries: 0 } }), [
      'budget.minRetries: must be 1 or more: without new tasks retries would wait for ever',
    ])
    assert.deepEqual(problemsOf({ budget: { kind: 'rate', perSecond: 1, burst: 1, replicas: 3 } }), [
      'budget.replicas: is not for a lane, which is one for the whole fleet',
    ])
  })

  it('has no queue of its own', () => {
    assert.deepEqual(problemsOf({ rateLimit: { perSecond: 1, maxWaitMs: 5 } }), [
      'rateLimit.maxWaitMs: is not for a lane: its tasks wait in the store',
    ])
  })

  it('has no breaker: credit is what it has instead', () => {
    assert.deepEqual(problemsOf({ breaker: { openMs: 1_000 } }), [
      'breaker: is not for a lane: credit { perAnswer, most, probeShare, probeMinMs, probeMaxMs } says how many attempts it may send before its destination answers',
    ])
  })
})
