import assert from 'node:assert/strict'
import { checkPolicy, type RetryPolicy, type RetryPolicyInput } from '@secondwind/resilience'
import { seededRandom } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import { tierLoads } from '../closed-forms/tiers.ts'
import { delayBandsOf, tierTreeOf } from './of-policy.ts'
import type { DelayBand, Tier } from './picture.ts'

function policy(input: RetryPolicyInput): RetryPolicy {
  const checked = checkPolicy(input)
  assert.ok(checked.problems === undefined && !('retry' in checked.policy))
  return checked.policy
}

function bands(input: RetryPolicyInput): readonly DelayBand[] {
  return delayBandsOf(policy(input), { title: 'A policy', random: seededRandom(7_041) }).bands
}

describe('the delay bands of a policy', () => {
  it('without jitter are instants: 100, 300 and 700 ms after the first attempt', () => {
    const instants = bands({ maxAttempts: 4, jitterType: 'NONE', initialDelayMs: 100 })
    assert.deepEqual(
      instants.map(({ attempt, p5Ms, p95Ms }) => [attempt, p5Ms, p95Ms]),
      [
        [2, 100, 100],
        [3, 300, 300],
        [4, 700, 700],
      ],
    )
  })

  it('with full jitter are as wide as the first delay is long, seed 7041', () => {
    const [first] = bands({ maxAttempts: 2, jitterType: 'FULL', initialDelayMs: 1_000 })
    const expected = { p5Ms: 50, p25Ms: 250, p50Ms: 500, p75Ms: 750, p95Ms: 950 }
    for (const [field, ms] of Object.entries(expected)) {
      const drawn = first![field as keyof typeof expected]
      assert.ok(Math.abs(drawn - ms) < 30, `${field}: ${drawn}`)
    }
  })

  it('of a single attempt are none, and carry the deadline', () => {
    const picture = delayBandsOf(policy({ maxAttempts: 1 }), { title: 'Once', random: seededRandom(1) })
    assert.deepEqual(picture, { kind: 'delay-bands', title: 'Once', bands: [], deadlineMs: 30_000 })
  })
})

describe('the tree of a chain', () => {
  const factors = (tier: Tier): [string, number][] => [
    [tier.name, tier.callsPerOperation],
    ...(tier.calls ?? []).flatMap(factors),
  ]

  it('has each tier below its caller, and at the end what the last one calls', () => {
    const chain = ['edge', 'api', 'db'].map(name => ({ name, maxAttempts: 3 }))
    const { root } = tierTreeOf(tierLoads(chain, { failureRate: 1 }), { title: 'Tiers', end: 'disk' })
    assert.deepEqual(factors(root), [
      ['edge', 1],
      ['api', 3],
      ['db', 9],
      ['disk', 27],
    ])
  })

  it('of nobody is the end alone', () => {
    assert.deepEqual(tierTreeOf([], { title: 'Tiers', end: 'disk' }).root, {
      name: 'disk',
      callsPerOperation: 1,
      calls: [],
    })
  })
})
