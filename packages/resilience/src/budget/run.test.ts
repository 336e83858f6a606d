import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { InvalidPolicyError } from '../errors.ts'
import { virtualClock } from '../testing/index.ts'
import { partOf } from './decide.ts'
import type { BudgetPolicy } from './policy.ts'
import { createBudget } from './run.ts'

describe('a budget', () => {
  it('is by default a tenth of the calls in ten seconds, and at least a hundred', async () => {
    const clock = virtualClock()
    const budget = createBudget(undefined, { clock })
    assert.equal(budget.balance, 100)
    for (let call = 0; call < 2_000; call++) budget.deposit()
    assert.equal(budget.balance, 200)
    for (let retry = 0; retry < 200; retry++) assert.equal(budget.tryWithdraw('transient'), true)
    assert.equal(budget.tryWithdraw('transient'), false)
    await clock.advance(10_000)
    assert.equal(budget.balance, 100, 'what is old is forgotten')
  })

  it('never shows less than nothing', async () => {
    const clock = virtualClock()
    const budget = createBudget({ kind: 'ratio', ratio: 0.1, windowMs: 10_000, minRetries: 0 }, { clock })
    for (let call = 0; call < 100; call++) budget.deposit()
    await clock.advance(9_500)
    for (let retry = 0; retry < 10; retry++) assert.equal(budget.tryWithdraw('transient'), true)
    await clock.advance(500)
    assert.equal(budget.balance, 0)
  })

  it('counts by a clock that cannot step back, and by its own where the caller has another', async () => {
    const clock = virtualClock()
    const budget = createBudget({ kind: 'rate', perSecond: 1, burst: 1 }, { clock })
    assert.equal(budget.tryWithdraw('transient'), true)
    clock.jumpWall(3_600_000)
    assert.equal(budget.tryWithdraw('transient'), false)
    await clock.advance(1_000)
    assert.equal(budget.tryWithdraw('transient'), true)
  })

  it('is divided among replicas, but never so far that nothing could be paid from a part', () => {
    const parts: readonly (readonly [BudgetPolicy, Partial<Record<string, number>>])[] = [
      [
        { kind: 'ratio', ratio: 0.1, windowMs: 10_000, minRetries: 100, replicas: 8 },
        { minRetries: 13, ratio: 0.1 },
      ],
      [{ kind: 'ratio', ratio: 0.1, windowMs: 10_000, minRetries: 0, replicas: 8 }, { minRetries: 0 }],
      [
        { kind: 'rate', perSecond: 100, burst: 10, replicas: 20 },
        { perSecond: 5, burst: 1 },
      ],
      [
        { kind: 'quota', capacity: 500, retryCost: 14, throttledCost: 5, successGain: 1, replicas: 100 },
        { capacity: 14 },
      ],
      [{ kind: 'concurrent', ratio: 0.2, minRetries: 3, replicas: 4 }, { minRetries: 1 }],
      [{ kind: 'tokens', maxTokens: 10, tokenRatio: 0.1, replicas: 4 }, { maxTokens: 10 }],
    ]
    for (const [whole, wanted] of parts)
      for (const [field, value] of Object.entries(wanted))
        assert.equal((partOf(whole) as unknown as Record<string, unknown>)[field], value, `${whole.kind}.${field}`)
  })

  it('reads a ratio of tokens to the third decimal, and no digit more', () => {
    for (const [tokenRatio, tokens] of [
      [1.001, 6.001],
      [0.5466, 5.546],
    ] as const) {
      const clock = virtualClock()
      const budget = createBudget({ kind: 'tokens', maxTokens: 10, tokenRatio }, { clock })
      for (let failed = 0; failed < 5; failed++) budget.settle!('transient', undefined)
      budget.settle!(undefined, undefined)
      assert.equal(Math.round((budget.balance + 5) * 1_000) / 1_000, tokens)
    }
  })

  it('is refused when it cannot be kept, with all of its problems', () => {
    const problemsOf = (policy: unknown): string[] => {
      try {
        createBudget(policy as BudgetPolicy)
        return []
      } catch (error) {
        return (error as InvalidPolicyError).problems.map(({ at, say }) => `${at} ${say}`)
      }
    }
    assert.deepEqual(problemsOf({ kind: 'ration' }), ['kind must be one of ratio, tokens, quota, rate, concurrent'])
    assert.deepEqual(problemsOf({ kind: 'rate', perSecond: 0, replicas: 0 }), [
      'perSecond must be a number from 0.001 to 1000000000',
      'replicas must be a whole number from 1 to 100000',
      'burst must be given with kind rate',
    ])
    assert.deepEqual(problemsOf({ kind: 'quota', capacity: 5, retryCost: 14, throttledCost: 5, successGain: 1 }), [
      'retryCost can never be paid: capacity is less',
    ])
    assert.deepEqual(problemsOf(3), [' must be an object with kind and its fields'])
    assert.equal(problemsOf({ kind: ['ratio'], ratio: 0.1, windowMs: 1_000, minRetries: 1 }).length, 1)
    const denying = { whenEmpty: 'deny-calls' }
    const forEver = ['whenEmpty would deny for ever: once empty, nothing could refill it']
    assert.deepEqual(problemsOf({ kind: 'tokens', maxTokens: 10, tokenRatio: 0.1, ...denying }), forEver)
    assert.deepEqual(problemsOf({ kind: 'ratio', ratio: 0.1, windowMs: 1_000, minRetries: 0, ...denying }), forEver)
    assert.deepEqual(problemsOf({ kind: 'ratio', ratio: 0.1, windowMs: 1_000, minRetries: 1, ...denying }), [])
    assert.deepEqual(problemsOf({ kind: 'rate', perSecond: 1, burst: 1, ...denying }), [])
  })
})
