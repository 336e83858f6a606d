import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { checkPolicy, explainPolicy, type Explanation, type PipelinePolicyInput } from '@secondwind/resilience'
import { checkProduction } from '../checklist/checklist.ts'
import { advise } from './advise.ts'
import type { Answers } from './answers.ts'

const CHECKOUT: Answers = {
  operation: 'write',
  idempotent: true,
  userFacing: true,
  rateLimited: false,
  critical: true,
  otherRegion: false,
}

const anyAnswers: fc.Arbitrary<Answers> = fc
  .record({
    operation: fc.constantFrom('read', 'write'),
    idempotent: fc.boolean(),
    userFacing: fc.boolean(),
    rateLimited: fc.boolean(),
    critical: fc.boolean(),
    otherRegion: fc.boolean(),
    latencyBudgetMs: fc.option(fc.integer({ min: 10, max: 604_800_000 }), { nil: undefined }),
    capacity: fc.option(
      fc.record({
        loadPerSecond: fc.integer({ min: 1, max: 1_000_000 }),
        capacityPerSecond: fc.integer({ min: 1, max: 1_000_000 }),
      }),
      { nil: undefined },
    ),
  })
  .map(answers => JSON.parse(JSON.stringify(answers)) as Answers)

function fieldsOf(policy: PipelinePolicyInput): string[] {
  return Object.entries(policy).flatMap(([part, fields]) =>
    typeof fields === 'object' ? Object.keys(fields).map(field => `${part}.${field}`) : [],
  )
}

describe('advise', () => {
  it('gives a person two second chances within five seconds', () => {
    const { policy } = advise(CHECKOUT, 'checkout')
    assert.deepEqual(policy.retry, {
      maxAttempts: 3,
      backoffType: 'EXPONENTIAL',
      initialDelayMs: 100,
      multiplier: 2,
      maxDelayMs: 1_250,
      jitterType: 'FULL',
      totalBudgetMs: 5_000,
      attemptTimeoutMs: 1_566,
    })
  })

  it('never repeats a write that is not idempotent, and says what would change that', () => {
    const { policy, besides } = advise({ ...CHECKOUT, idempotent: false })
    assert.equal(policy.retry.maxAttempts, 1)
    assert.match(besides.join(), /idempotency key/)
  })

  it('lets an outage add no more than the capacity that is left', () => {
    const tight = advise({ ...CHECKOUT, capacity: { loadPerSecond: 100, capacityPerSecond: 105 } })
    assert.deepEqual(tight.policy.budget, { kind: 'ratio', ratio: 0.05, windowMs: 10_000, minRetries: 50 })
  })

  it('gives slow reads company only where a person waits and there is room', () => {
    const read: Answers = {
      ...CHECKOUT,
      operation: 'read',
      capacity: { loadPerSecond: 100, capacityPerSecond: 200 },
    }
    assert.ok(advise(read).policy.hedge)
    for (const change of [
      { operation: 'write' as const },
      { userFacing: false },
      { rateLimited: true },
      { capacity: { loadPerSecond: 100, capacityPerSecond: 140 } },
    ])
      assert.equal(advise({ ...read, ...change }).policy.hedge, undefined, JSON.stringify(change))
  })

  it('keeps calls back where a dependency limits them, and waits until a limit has refilled', () => {
    const { policy } = advise({ ...CHECKOUT, userFacing: false, rateLimited: true })
    assert.deepEqual(policy.throttle, { acceptMultiplier: 2 })
    assert.equal(policy.retry.initialDelayMs, 1_000)
  })

  it('waits for a round trip to another region', () => {
    assert.equal(advise({ ...CHECKOUT, otherRegion: true }).policy.retry.initialDelayMs, 200)
  })

  it('names failOver for another region, with as many attempts at home as leave one for elsewhere', () => {
    const sayings: readonly (readonly [Partial<Answers>, RegExp])[] = [
      [{ critical: true }, /through failOver\(\{ home, others \}\)/],
      [{ critical: false }, /through failOver\(\{ home, others, homeAttempts: 1 \}\)/],
      [{ idempotent: false }, /failOver could make a second attempt .* only one/],
    ]
    for (const [change, saying] of sayings)
      assert.match(advise({ ...CHECKOUT, ...change, otherRegion: true }).besides.join('\n'), saying)
    fc.assert(
      fc.property(anyAnswers, answers => {
        assert.equal(/failOver/.test(advise(answers).besides.join()), answers.otherRegion)
      }),
      { seed: 8 },
    )
  })

  it('has one reason for every field, whatever the answers', () => {
    fc.assert(
      fc.property(anyAnswers, answers => {
        const { policy, reasons } = advise(answers)
        assert.deepEqual(
          reasons.map(({ at }) => at),
          fieldsOf(policy),
        )
        for (const { because } of reasons) assert.match(because, /\S/)
      }),
      { seed: 5 },
    )
  })

  it('advises what the library takes without a warning, whatever the answers', () => {
    fc.assert(
      fc.property(anyAnswers, answers => {
        const { policy } = advise(answers)
        assert.equal(checkPolicy(policy).problems, undefined)
        const explained = explainPolicy(policy) as Explanation
        assert.deepEqual(
          explained.warnings.filter(({ level }) => level === 'warning'),
          [],
        )
        assert.equal(explained.certainAttempts, policy.retry.maxAttempts)
      }),
      { seed: 6 },
    )
  })

  it('writes policies in which no point of the checklist is open, whether the call may be repeated or not', () => {
    fc.assert(
      fc.property(anyAnswers, answers => {
        const points = checkProduction(advise(answers).policy)
        assert.ok(!('problems' in points))
        const open = points.flatMap(({ id, verdict }) => (verdict === 'not-met' ? [id] : []))
        assert.deepEqual(open, [])
      }),
      { seed: 7 },
    )
  })
})
