import assert from 'node:assert/strict'
import { tierAmplification } from '@secondwind/resilience'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { near } from './near.test-kit.ts'
import { retryLoad } from './retry-load.ts'
import { tierLoads } from './tiers.ts'

const chainOf = (...attempts: number[]): { name: string; maxAttempts: number }[] =>
  attempts.map((maxAttempts, index) => ({ name: `tier ${index + 1}`, maxAttempts }))
const lastOf = (attempts: number[], failureRate: number, isIndependent = false): number =>
  tierLoads(chainOf(...attempts), { failureRate, isIndependent }).at(-1)!.callsPerOperation

describe('a chain of tiers', () => {
  it('multiplies when everything fails: 27 for three of three, 81 for four, 64 for three of four, 243 for five, 6 for 3, 2, 1', () => {
    assert.equal(lastOf([3, 3, 3], 1), 27)
    assert.equal(lastOf([3, 3, 3, 3], 1), 81)
    assert.equal(lastOf([4, 4, 4], 1), 64)
    assert.equal(lastOf([3, 3, 3, 3, 3], 1), 243)
    assert.equal(lastOf([3, 2, 1], 1), 6)
  })

  it('ends at 2 calls when half of the last calls fail: what is above seldom has to retry', () => {
    assert.ok(...near(lastOf([3, 3, 3], 0.5), 2, 1e-6))
  })

  it('whose tiers fail by themselves has the published product: 6.592, 40.67 and 74.83', () => {
    assert.ok(...near(lastOf([4, 4, 4], 0.5, true), 6.592, 5e-4))
    assert.ok(...near(lastOf([4, 4, 4], 0.9, true), 40.67, 5e-3))
    assert.ok(...near(lastOf([6, 6, 6, 6], 0.7, true), 74.83, 5e-3))
  })

  it('of one tier is that tier', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (attempts, failureRate) => {
          const { callsPerOperation } = retryLoad({ operationsPerSecond: 1, maxAttempts: attempts, failureRate })
          assert.equal(lastOf([attempts], failureRate), callsPerOperation)
          assert.equal(lastOf([attempts], failureRate, true), callsPerOperation)
        },
      ),
    )
  })

  it('carries more from tier to tier, and never more than the worst case', () => {
    const anyAttempts = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(anyAttempts, fc.double({ min: 0, max: 1, noNaN: true }), (attempts, failureRate) => {
        const loads = tierLoads(chainOf(...attempts), { failureRate })
        for (const [index, { callsPerOperation, worstCase }] of loads.entries()) {
          assert.ok(callsPerOperation >= (loads[index - 1]?.callsPerOperation ?? 1) * (1 - 1e-9))
          assert.ok(callsPerOperation <= worstCase * (1 + 1e-9))
        }
        const { whenLastFails } = tierAmplification(attempts, failureRate)
        assert.ok(...near(loads.at(-1)!.callsPerOperation, whenLastFails, 1e-9 * whenLastFails))
      }),
    )
  })
})
