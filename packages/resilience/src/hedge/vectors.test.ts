import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'vitest'
import { createBudget } from '../budget/run.ts'
import { noLatencies, recordLatency } from '../latency/decide.ts'
import { virtualClock } from '../testing/index.ts'
import {
  hedgeBudget,
  hedgeDelayMs,
  mayHedge,
  type HedgeAnswer,
  type HedgedAttempt,
  type HedgeMoment,
} from './decide.ts'
import { checkHedge, DEFAULT_HEDGE, withHedgeDefaults, type HedgeInput, type HedgePolicy } from './policy.ts'
import { readPushback, type Pushback } from './pushback.ts'

interface DelayCase {
  readonly name: string
  readonly policy: HedgeInput
  readonly durations: readonly { readonly times: number; readonly ms: number }[]
  readonly ms: number | null
}

interface AnswerCase {
  readonly name: string
  readonly policy: HedgeInput
  readonly attempt: HedgedAttempt
  readonly moment: Omit<HedgeMoment, 'delayMs'> & { readonly delayMs: number | null }
  readonly answer: HedgeAnswer
}

interface BudgetCase {
  readonly name: string
  readonly policy: HedgeInput
  readonly steps: readonly {
    readonly at: number
    readonly do: 'call' | 'hedge'
    readonly times: number
    readonly granted?: number
    readonly hedgesLeft?: number
  }[]
}

interface PushbackCase {
  readonly name: string
  readonly value: string | null
  readonly pushback: Pushback | null
}

interface Vectors {
  readonly about: string
  readonly defaults: HedgePolicy
  readonly delays: readonly DelayCase[]
  readonly answers: readonly AnswerCase[]
  readonly budgets: readonly BudgetCase[]
  readonly pushbacks: readonly PushbackCase[]
}

function policyOf(input: HedgeInput): HedgePolicy {
  assert.deepEqual(checkHedge(input), [])
  const policy = withHedgeDefaults(input)
  assert.deepEqual(policy, { ...DEFAULT_HEDGE, ...input }, 'another language has nothing but the file')
  return policy
}

describe('vectors/hedge.json', () => {
  const url = new URL('../../../../vectors/hedge.json', import.meta.url)
  const vectors = JSON.parse(readFileSync(url, 'utf8')) as Vectors
  const { about: _, defaults, delays, answers, budgets, pushbacks, ...rest } = vectors

  it('has no field that nobody reads, and the defaults of a hedge', () => {
    assert.deepEqual(rest, {})
    assert.deepEqual(defaults, DEFAULT_HEDGE)
  })

  for (const { name, policy, durations, ms, ...rest } of delays)
    it(`hedge delay: ${name}`, () => {
      assert.deepEqual(rest, {})
      const latencies = noLatencies(DEFAULT_HEDGE.sampleCalls)
      for (const { times, ms } of durations) for (let time = 0; time < times; time++) recordLatency(latencies, ms)
      assert.equal(hedgeDelayMs(policyOf(policy), latencies) ?? null, ms)
    })

  for (const { name, policy, attempt, moment, answer, ...rest } of answers)
    it(`hedge: ${name}`, () => {
      assert.deepEqual(rest, {})
      const { delayMs } = moment
      assert.deepEqual(mayHedge(policyOf(policy), attempt, { ...moment, delayMs: delayMs ?? undefined }), answer)
    })

  for (const { name, policy, steps, ...rest } of budgets)
    it(`hedge budget: ${name}`, async () => {
      assert.deepEqual(rest, {})
      const clock = virtualClock()
      const budget = createBudget(hedgeBudget(policyOf(policy)), { clock })
      for (const { at, do: verb, times, granted = 0, hedgesLeft, ...rest } of steps) {
        assert.deepEqual(rest, {})
        await clock.advance(at - clock.monotonic())
        let allowed = 0
        for (let time = 0; time < times; time++)
          if (verb === 'call') budget.deposit()
          else if (budget.tryWithdraw('transient')) allowed++
        assert.equal(allowed, granted)
        if (hedgesLeft !== undefined) assert.equal(budget.balance, hedgesLeft)
      }
    })

  for (const { name, value, pushback, ...rest } of pushbacks)
    it(`pushback: ${name}`, () => {
      assert.deepEqual(rest, {})
      assert.deepEqual(readPushback(value ?? undefined) ?? null, pushback)
    })
})
