import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { Budget } from '../budget/budget.ts'
import { failure, SUCCESS } from '../classify/outcome.ts'
import { InvalidAnswerError } from '../errors.ts'
import type { RetryEvent } from '../ports/telemetry.ts'
import { expectNoLeaks } from '../testing/index.ts'
import type { RetryOptions } from './options.ts'
import { retry } from './run.ts'
import { outcomeOf, reset, scripted, STEADY } from './scripted.test-kit.ts'

describe('what the caller brings along', () => {
  const thrown = new Error('a bug in a callback')
  const throwing = (): never => {
    throw thrown
  }
  const brought: { readonly [what: string]: RetryOptions } = {
    'a judgement of errors': { classify: throwing },
    'a judgement of values': { classifyResult: throwing },
    'a budget': { budget: { deposit: throwing, tryWithdraw: throwing, balance: 0 } },
    'a budget that fails at the retry': { budget: { deposit: () => true, tryWithdraw: throwing, balance: 0 } },
  }
  for (const [what, options] of Object.entries(brought))
    it(`ends the operation with its error when it throws: ${what}`, async () => {
      const { work, clock } = scripted(what.includes('values') ? 'value' : reset())
      await expectNoLeaks(
        async check => {
          const { signal } = check.controller()
          const { error } = await outcomeOf(clock, retry(work, STEADY, { ...options, ports: { clock }, signal }))
          assert.equal(error, thrown)
        },
        { clock },
      )
    })

  it('is refused clearly when it is of another kind than is meant', async () => {
    const mistakes: readonly (readonly [object, RegExp])[] = [
      [{ signal: new AbortController() }, /signal must be an AbortSignal, not its controller/],
      [{ budget: { kind: 'rate', perSecond: 1, burst: 1 } }, /budget must be what createBudget/],
      [{ breaker: { window: 'time' } }, /breaker must be what createBreaker/],
    ]
    for (const [options, message] of mistakes)
      await assert.rejects(
        retry(() => 1, {}, options),
        message,
      )
  })

  it('may judge a value by the same words as an error, and by nothing else', async () => {
    const accepted: readonly (readonly [unknown, calls: number])[] = [
      [undefined, 1],
      [SUCCESS, 1],
      ['permanent', 1],
      ['ignored', 1],
      ['transient', 4],
      ['throttled', 4],
      ['ambiguous', 4],
      [failure('transient'), 4],
    ]
    for (const [judgement, most] of accepted) {
      const { work, ports, clock, calls } = scripted('value')
      const classifyResult = (): never => judgement as never
      const { value } = await outcomeOf(clock, retry(work, STEADY, { ports, classifyResult }))
      assert.deepEqual([value, calls.length], ['value', most], String(judgement))
    }
    const refused = ['transiant', 'success', '', null, true, 503, {}, { kind: 'failure' }, Promise.resolve('transient')]
    for (const judgement of refused)
      for (const who of ['classify', 'classifyResult']) {
        const { work, ports, clock, calls } = scripted(who === 'classify' ? new Error('odd') : 'value')
        const { error } = await outcomeOf(clock, retry(work, STEADY, { ports, [who]: () => judgement }))
        assert.ok(error instanceof InvalidAnswerError, `${who}: ${String(judgement)}`)
        assert.match(
          error.message,
          new RegExp(`^${who} returned .*; it must return transient, throttled, .* or undefined$`),
        )
        assert.equal(calls.length, 1)
      }
  })

  it('is refused where it is a budget that answers with a promise, which would pass for true', async () => {
    const late = (async () => true) as never
    const budgets: { readonly [verb: string]: readonly [budget: Budget, calls: number] } = {
      deposit: [{ deposit: late, tryWithdraw: () => true, balance: 1 }, 0],
      covers: [{ deposit: () => true, covers: late, tryWithdraw: () => true, balance: 1 }, 1],
      tryWithdraw: [{ deposit: () => true, tryWithdraw: late, balance: 1 }, 1],
    }
    for (const [verb, [budget, most]] of Object.entries(budgets)) {
      const { work, ports, clock, calls } = scripted(reset())
      const { error } = await outcomeOf(clock, retry(work, STEADY, { ports, budget }))
      assert.ok(error instanceof InvalidAnswerError)
      assert.equal(
        error.message,
        `${verb} of the budget returned [object Promise]; it must return true or false at once, from a count kept in memory`,
      )
      assert.equal(calls.length, most, verb)
    }
  })

  it('ends the operation with its error when it throws: a die', async () => {
    const { work, clock } = scripted(reset())
    const { error } = await outcomeOf(clock, retry(work, STEADY, { ports: { clock, random: throwing } }))
    assert.equal(error, thrown)
  })

  it('may abort from inside an observer: nothing more is called', async () => {
    for (const kind of ['attempt-started', 'attempt-ended', 'retry-scheduled']) {
      const { work, ports, clock, calls } = scripted(reset())
      const controller = new AbortController()
      const telemetry = (event: RetryEvent): void => void (event.kind === kind && controller.abort(thrown))
      const { error } = await outcomeOf(clock, retry(work, STEADY, { ports, telemetry, signal: controller.signal }))
      assert.equal(error, thrown, kind)
      assert.equal(calls.length, 1, kind)
    }
  })

  it('may return a failure in the turn of an abort: it is not retried', async () => {
    const { ports, clock } = scripted()
    const controller = new AbortController()
    let calls = 0
    const work = async () => {
      calls++
      controller.abort(thrown)
      return 503
    }
    const classifyResult = () => ({ kind: 'failure', fault: 'transient' }) as const
    const { error } = await outcomeOf(clock, retry(work, STEADY, { ports, classifyResult, signal: controller.signal }))
    assert.deepEqual([error, calls], [thrown, 1])
  })
})
