import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { presets } from '@secondwind/resilience'
import { checkProduction, type ChecklistPoint } from './checklist.ts'

const GOOD = { name: 'payments', retry: {}, breaker: {} }

function pointsOf(input: unknown, headroom?: number): readonly ChecklistPoint[] {
  const points = checkProduction(input, headroom === undefined ? {} : { headroom })
  if ('problems' in points) throw new Error(JSON.stringify(points.problems))
  return points
}

function notMet(input: unknown, headroom?: number): string[] {
  return pointsOf(input, headroom).flatMap(({ id, verdict }) => (verdict === 'not-met' ? [id] : []))
}

describe('the production checklist', () => {
  it('has twenty points, in their order', () => {
    assert.deepEqual(
      pointsOf(GOOD).map(({ id }) => id),
      Array.from({ length: 20 }, (_, index) => `K${index + 1}`),
    )
  })

  it('finds nothing in the defaults with a breaker', () => {
    assert.deepEqual(notMet(GOOD), [])
  })

  it('says of code, tests and operation that a policy does not show them', () => {
    assert.deepEqual(
      pointsOf(GOOD).flatMap(({ id, verdict }) => (verdict === 'not-visible' ? [id] : [])),
      ['K1', 'K4', 'K13', 'K14', 'K15', 'K16', 'K17', 'K18', 'K19', 'K20'],
    )
  })

  it('does not blame a bare retry policy for a breaker that it cannot carry', () => {
    const verdicts = pointsOf({}).filter(({ id }) => ['K10', 'K11', 'K12'].includes(id))
    assert.deepEqual(new Set(verdicts.map(({ verdict }) => verdict)), new Set(['not-visible']))
  })

  const faults: readonly (readonly [fault: string, policy: object, points: readonly string[]])[] = [
    ['a call that may hang until the deadline', { attemptTimeoutMs: 30_000 }, ['K2']],
    ['waits without jitter', { jitterType: 'NONE' }, ['K5']],
    ['waits of zero', { initialDelayMs: 0 }, ['K5']],
    ['a cap beyond the deadline', { maxDelayMs: 60_000 }, ['K7']],
    ['a server whose asked wait is not kept', { retryableStatusCodes: [500] }, ['K9']],
  ]
  for (const [fault, retry, points] of faults)
    it(`finds ${fault}`, () => assert.deepEqual(notMet({ ...GOOD, retry }), points))

  it('does not blame a call that is made once: whether it may be repeated is not in the policy', () => {
    for (const policy of [{ maxAttempts: 1 }, { ...GOOD, retry: { maxAttempts: 1 } }]) {
      assert.deepEqual(notMet(policy, 1.05), [])
      assert.equal(pointsOf(policy).find(({ id }) => id === 'K3')!.verdict, 'not-visible')
    }
  })

  it('counts on the same budget at every point, also where a bare policy leaves it to the library', () => {
    const [bare, whole] = [{ maxAttempts: 5 }, { ...GOOD, retry: { maxAttempts: 5 } }]
    assert.deepEqual(notMet(bare, 1.2), [])
    const need = (policy: object): string => pointsOf(policy, 1.2).find(({ id }) => id === 'K20')!.because
    assert.equal(need(bare), need(whole))
    assert.match(need(bare), /a long outage makes 1\.1 times the usual load, its first second more/)
  })

  it('finds a missing budget, and one that allows everything', () => {
    assert.deepEqual(notMet({ ...GOOD, budget: false }), ['K8'])
    assert.deepEqual(notMet({ ...GOOD, budget: { kind: 'ratio', ratio: 2, windowMs: 10_000, minRetries: 0 } }), ['K8'])
  })

  it('finds a missing breaker at every point that needs one', () => {
    assert.deepEqual(notMet({ name: 'payments', retry: {} }), ['K10', 'K11', 'K12'])
  })

  it('finds a breaker that opens by chance, and names each field', () => {
    const points = pointsOf({ ...GOOD, breaker: { failureRate: 0.1, minCalls: 2, probes: 1 } })
    const { verdict, because } = points.find(({ id }) => id === 'K11')!
    assert.equal(verdict, 'not-met')
    assert.equal(because, 'failureRate is 0.1, less than 0.5; minCalls is 2, less than 10; probes is 1, less than 2')
    assert.deepEqual(notMet({ ...GOOD, breaker: { window: 'consecutive', consecutiveFailures: 2 } }), ['K11'])
  })

  it('compares what an outage adds with what can be served, once somebody says how much that is', () => {
    assert.deepEqual(notMet(GOOD, 1.2), [])
    assert.deepEqual(notMet(GOOD, 1.05), ['K20'])
    assert.deepEqual(notMet({ ...GOOD, budget: false, retry: { maxAttempts: 4 } }, 3.9), ['K8', 'K20'])
  })

  it('finds nothing in the preset for calls a person waits for', () => {
    assert.deepEqual(notMet(presets.userFacing, 5), [])
  })

  it('answers with all problems of a policy that is wrong', () => {
    const answer = checkProduction({ maxAtempts: 3, maxDelayMs: -1 })
    assert.ok('problems' in answer)
    assert.deepEqual(
      answer.problems.map(({ at }) => at),
      ['maxAtempts', 'maxDelayMs'],
    )
  })

  it('has an answer with a reason for every preset, whatever the headroom', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(presets)),
        fc.double({ min: 1, max: 10, noNaN: true }),
        (policy, headroom) => {
          for (const { because } of pointsOf(policy, headroom)) assert.match(because, /\S/)
        },
      ),
      { seed: 4 },
    )
  })
})
