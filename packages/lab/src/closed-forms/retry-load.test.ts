import assert from 'node:assert/strict'
import { checkPolicy, tierAmplification, type RetryPolicy, type RetryPolicyInput } from '@secondwind/resilience'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { near } from './near.test-kit.ts'
import { mm1 } from './queues.ts'
import {
  burstBacklog,
  capacityFor,
  drainMs,
  herdPerSecond,
  retryLoad,
  safeOperationsPerSecond,
  stallRecoveryMs,
} from './retry-load.ts'

function policy(input: RetryPolicyInput): RetryPolicy {
  const checked = checkPolicy(input)
  assert.ok(checked.problems === undefined && !('retry' in checked.policy))
  return checked.policy
}

describe('the load of retries', () => {
  it.each([
    [0.1, 1.111, 0.9999],
    [0.2, 1.248, 0.9984],
    [0.3, 1.417, 0.9919],
    [0.5, 1.875, 0.9375],
  ])('of four attempts at failure rate %d is %d calls each, and %d succeed', (failureRate, calls, success) => {
    const load = retryLoad({ operationsPerSecond: 100, maxAttempts: 4, failureRate })
    assert.ok(...near(load.callsPerOperation, calls, 1e-9))
    assert.ok(...near(load.successRate, success, 1e-9))
    assert.ok(...near(load.retriesPerSecond, 100 * (calls - 1), 1e-6))
  })

  it('of 10 000 operations a second is 10 101 calls when one in a hundred fails, and 40 000 when all do', () => {
    const load = (failureRate: number): number =>
      retryLoad({ operationsPerSecond: 10_000, maxAttempts: 4, failureRate }).callsPerSecond
    assert.ok(...near(load(0.01), 10_101, 0.1))
    assert.equal(load(1), 40_000)
    assert.equal(load(0), 10_000)
  })

  it('is that of a chain of one tier', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.double({ min: 0, max: 1, noNaN: true }), (attempts, rate) => {
        const load = retryLoad({ operationsPerSecond: 1, maxAttempts: attempts, failureRate: rate })
        assert.equal(load.callsPerSecond, tierAmplification([attempts], rate).whenEachFails)
        assert.ok(load.successRate >= -1e-12 && load.successRate <= 1 + 1e-12)
      }),
    )
  })

  it('cannot keep a storm alive below the capacity over all attempts: 150 of 300 with one retry', () => {
    assert.equal(safeOperationsPerSecond({ capacityPerSecond: 300, maxAttempts: 2 }), 150)
  })
})

describe('the capacity for a policy', () => {
  const ask = { operationsPerSecond: 50_000, failureRate: 0.05, utilisation: 1 }

  it('is four times the load when four attempts fail and nothing holds them', () => {
    const capacity = capacityFor({ name: 'a', retry: { maxAttempts: 4 }, budget: false }, ask)
    assert.ok(capacity.problems === undefined)
    assert.ok(...near(capacity.usualPerSecond, 52_631, 1))
    assert.equal(capacity.worstPerSecond, 200_000)
    assert.equal(capacity.heldBy, 'attempts')
  })

  it('is held down by a budget, and grows with the headroom', () => {
    const capacity = capacityFor({ name: 'a', retry: { maxAttempts: 4 } }, { ...ask, utilisation: 0.5 })
    assert.ok(capacity.problems === undefined)
    assert.ok(...near(capacity.worstPerSecond, 110_000, 1e-6))
    assert.equal(capacity.heldBy, 'budget')
  })

  it('of a document that is none is its problems', () => {
    assert.equal(capacityFor({ maxAttempts: 0 }, ask).problems?.[0]?.at, 'maxAttempts')
  })
})

describe('a backlog', () => {
  it('of a burst of 200 000/s for 100 ms is 18 000, gone after 0.9 s', () => {
    const burst = { arrivalsPerSecond: 80_000, capacityPerSecond: 100_000, extraPerSecond: 200_000, burstMs: 100 }
    assert.deepEqual(burstBacklog(burst), { calls: 18_000, drainMs: 900 })
  })

  it('that capacity can take at once is none', () => {
    const burst = { arrivalsPerSecond: 10, capacityPerSecond: 100, extraPerSecond: 90, burstMs: 1_000 }
    assert.deepEqual(burstBacklog(burst), { calls: 0, drainMs: 0 })
  })

  it('never goes when nothing is left over', () => {
    assert.equal(drainMs({ calls: 1, arrivalsPerSecond: 100, capacityPerSecond: 100 }), undefined)
  })

  it('that a stall left takes stall · 2λ / (capacity − 2λ) with one retry, and for ever at the boundary', () => {
    const recovery = (operationsPerSecond: number): number | undefined =>
      stallRecoveryMs({ stallMs: 10_000, operationsPerSecond, capacityPerSecond: 300, maxAttempts: 2 })
    assert.ok(...near(recovery(140), 140_000, 1e-6))
    assert.ok(...near(recovery(100), 20_000, 1e-6))
    assert.equal(recovery(150), undefined)
    assert.equal(recovery(155), undefined)
  })

  it('agrees with M/M/1 on when there is an end', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000 }), arrivalsPerSecond => {
        const drains = drainMs({ calls: 1, arrivalsPerSecond, capacityPerSecond: 1_000 }) !== undefined
        assert.equal(drains, mm1({ arrivalsPerSecond, serviceMs: 1 }) !== undefined)
      }),
    )
  })
})

describe('a herd', () => {
  it('of 100 000 comes back at 20 000/s over a cap of 5 s, and at 10 000/s over one of 10 s', () => {
    const herd = (maxDelayMs: number): number | undefined =>
      herdPerSecond({ clients: 100_000, retry: 10, policy: policy({ maxDelayMs, maxAttempts: 20 }) })
    assert.equal(herd(5_000), 20_000)
    assert.equal(herd(10_000), 10_000)
  })

  it('without jitter comes back in one instant', () => {
    assert.equal(herdPerSecond({ clients: 10, retry: 1, policy: policy({ jitterType: 'NONE' }) }), undefined)
  })

  it('with decorrelated jitter spreads more from retry to retry, up to the cap', () => {
    const decorrelated = policy({ jitterType: 'DECORRELATED', initialDelayMs: 100, maxDelayMs: 1_000 })
    const rates = [1, 2, 3, 4].map(retry => herdPerSecond({ clients: 900, retry, policy: decorrelated }))
    assert.deepEqual(rates, [4_500, 1_125, 1_000, 1_000])
  })
})
