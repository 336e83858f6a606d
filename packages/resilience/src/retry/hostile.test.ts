import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { createBudget } from '../budget/run.ts'
import { DeadlineError, InvalidPolicyError } from '../errors.ts'
import type { Alarm, Clock } from '../ports/clock.ts'
import { systemClock } from '../ports/system-clock.ts'
import { virtualClock } from '../testing/index.ts'
import { historyOf } from './history.ts'
import type { RetryOptions } from './options.ts'
import type { RetryPolicyInput } from './policy.ts'
import { retry } from './run.ts'
import { outcomeOf, reset, scripted, STEADY } from './scripted.test-kit.ts'

/** How many attempts a failing call makes under a policy. */
async function attemptsUnder(policy: unknown): Promise<number | string> {
  const { work, ports, calls, clock } = scripted(reset())
  const { error } = await outcomeOf(clock, retry(work, policy as RetryPolicyInput, { ports, budget: false }))
  return error instanceof InvalidPolicyError ? error.code : calls.length
}

describe('a policy is never mistaken for another', () => {
  it('though its fields are undefined, inherited or of another kind', async () => {
    assert.equal(await attemptsUnder({ maxAttempts: 6, initialDelayMs: 1 }), 6)
    assert.equal(await attemptsUnder({ maxAttempts: undefined, initialDelayMs: undefined }), 3)
    assert.equal(await attemptsUnder({ maxAttempts: 7 }), 7)
    assert.equal(await attemptsUnder({ initialDelayMs: undefined }), 3)
    assert.equal(await attemptsUnder({ bogus: undefined }), 'invalid-policy')
    assert.equal(await attemptsUnder(JSON.parse('{"__proto__":{}}')), 'invalid-policy')
    assert.equal(await attemptsUnder({}), 3)
    assert.equal(await attemptsUnder([]), 'invalid-policy')
  })

  it('though it is a proxy, and cannot be changed by whoever is shown it', async () => {
    assert.equal(await attemptsUnder(new Proxy({ maxAttempts: 4 }, {})), 4)
    const policy = { maxAttempts: 1, policyId: 'shown', retryableStatusCodes: [503] }
    const onExhausted = ({ policy: shown }: { policy: { retryableStatusCodes: readonly number[] } }): number =>
      (shown.retryableStatusCodes as number[]).push(1)
    const { work, ports } = scripted(Object.assign(new Error(), { status: 503 }))
    await retry(work, policy, { ports, onExhausted }).catch(() => {})
    const error: unknown = await retry(work, policy, { ports }).catch((caught: unknown) => caught)
    assert.equal(historyOf(error)?.reason, 'attempts')
  })

  it('and loses no limit to a share that is undefined', async () => {
    assert.equal(await attemptsUnder({ maxAttempts: 2, inProcess: { maxAttempts: undefined, totalBudgetMs: 300 } }), 2)
    assert.equal(await attemptsUnder({ inProcess: { maxAttempts: 2, totalBudgetMs: undefined } }), 2)
  })

  it('and is refused in words, whatever it is made of', async () => {
    assert.equal(await attemptsUnder(JSON.parse('{"maxAttempts":{"toString":0,"valueOf":0}}')), 'invalid-policy')
    assert.equal(await attemptsUnder({ backoffType: 'CUSTOM', delaysMs: Array.from({ length: 3 }) }), 'invalid-policy')
    const holes = [5]
    holes.length = 3
    assert.equal(await attemptsUnder({ backoffType: 'CUSTOM', delaysMs: holes }), 'invalid-policy')
  })
})

describe('no number', () => {
  const brought: { readonly [what: string]: RetryOptions } = {
    'a hint': { classify: () => ({ kind: 'failure', fault: 'throttled', retryAfterMs: NaN }) },
    'a curve': { curve: () => undefined as never },
    'a die': { ports: { random: () => NaN } },
  }
  for (const [what, options] of Object.entries(brought))
    it(`from ${what} ends the operation by its deadline`, async () => {
      const clock = virtualClock()
      const work = (): Promise<never> => Promise.reject(reset())
      const ports = { ...options.ports, clock }
      const { error } = await outcomeOf(clock, retry(work, STEADY, { ...options, ports, budget: false }))
      assert.notEqual(historyOf(error), undefined)
    })

  it('is no deadline, nor is a duration or a Date', async () => {
    for (const deadlineAt of [NaN, 5_000, new Date() as never])
      await assert.rejects(
        retry(() => 1, {}, { deadlineAt }),
        /deadlineAt must be wall time in ms/,
      )
  })

  it('keeps nobody else from being woken', async () => {
    const nobody = { dueAt: NaN, slot: -1, ring: (): void => {} }
    systemClock.arm(nobody)
    await Promise.all([systemClock.sleep(2), systemClock.sleep(1)])
    assert.equal(nobody.slot, -1)
  })
})

describe('what was taken is given back', () => {
  it('when the deadline has passed by the end of the wait', async () => {
    const clock = virtualClock()
    const budget = createBudget({ kind: 'concurrent', ratio: 0, minRetries: 1 }, { clock })
    const policy = { ...STEADY, initialDelayMs: 10, totalBudgetMs: 50 }
    const work = async (): Promise<never> => {
      throw reset()
    }
    // The event loop stood still: the alarm of 10 ms rings when 100 have passed.
    let elapsed = 0
    let armed: Alarm | undefined
    const late: Clock = {
      now: () => 0,
      monotonic: () => elapsed,
      sleep: () => Promise.resolve(),
      arm: alarm => void (armed = alarm),
      disarm: () => {},
    }
    const ports = { clock: late }
    const result = retry(work, policy, { ports, budget }).catch((error: unknown) => error)
    await new Promise(resolve => setImmediate(resolve))
    elapsed = 100
    armed!.ring()
    assert.equal(historyOf(await result)?.reason, 'deadline')
    assert.equal(budget.balance, 1)
  })

  it('when a judgement throws on a retry', async () => {
    const { work, ports, clock } = scripted(reset())
    const budget = createBudget({ kind: 'concurrent', ratio: 0, minRetries: 1 }, { clock })
    let judged = 0
    const classify = (): undefined => {
      if (++judged === 2) throw new Error('a bug')
    }
    await outcomeOf(clock, retry(work, STEADY, { ports, budget, classify }))
    assert.equal(budget.balance, 1)
  })
})

describe('a caller', () => {
  it('whose deadline has passed is not called at all', async () => {
    const { work, ports, calls, clock } = scripted('late')
    const { error } = await outcomeOf(clock, retry(work, STEADY, { ports, deadlineAt: clock.now() - 1 }))
    assert.ok(error instanceof DeadlineError)
    assert.deepEqual(calls, [])
  })

  it('is thrown its own error, even one that cannot be looked at', async () => {
    const secretive = Object.defineProperty(new Error('secret'), 'status', {
      get: () => {
        throw new Error('no looking')
      },
    })
    await assert.rejects(
      retry(() => Promise.reject(secretive)),
      (error: unknown) => error === secretive,
    )
  })

  it('may begin another operation while its options are read', async () => {
    const options = {
      get name(): string {
        void retry(() => 1, {})
        return 'nested'
      },
      get signal(): undefined {
        void retry(() => 1, {})
        return undefined
      },
    }
    assert.equal(await retry(() => 42, {}, options), 42)
  })
})
