import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { createBreaker } from '../breaker/run.ts'
import { createBudget } from '../budget/run.ts'
import { expectNoLeaks, virtualClock, type VirtualClock } from '../testing/index.ts'
import type { RetryOptions, Work } from './options.ts'
import type { RetryPolicyInput } from './policy.ts'
import { retry } from './run.ts'
import { reset, STEADY } from './scripted.test-kit.ts'

interface Ending {
  readonly work: (clock: VirtualClock) => Work<unknown>
  readonly policy?: RetryPolicyInput
  readonly options?: (clock: VirtualClock) => RetryOptions<unknown, unknown>
  readonly abortAt?: number
}

/** Every way in which an operation can end. */
const ENDINGS: { readonly [name: string]: Ending } = {
  'success at once': { work: () => () => 1 },
  'success after a call': { work: clock => () => clock.sleep(5) },
  'success after retries': { work: () => attempt => (attempt.attempt < 3 ? Promise.reject(reset()) : 2) },
  'a permanent error': { work: () => () => Promise.reject(new Error('bug')) },
  'attempts exhausted': { work: () => () => Promise.reject(reset()) },
  'a thrown error in work that is not async': {
    work: () => () => {
      throw reset()
    },
  },
  'the deadline before a wait': {
    work: () => () => Promise.reject(reset()),
    policy: { ...STEADY, totalBudgetMs: 250 },
  },
  'the deadline during a call': { work: () => () => new Promise(() => {}), policy: { ...STEADY, totalBudgetMs: 250 } },
  'time-outs that are ignored': {
    work: () => () => new Promise(() => {}),
    policy: { ...STEADY, attemptTimeoutMs: 40 },
  },
  'time-outs that are heeded': {
    work:
      () =>
      ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    policy: { ...STEADY, attemptTimeoutMs: 40 },
  },
  'a late rejection after a time-out': {
    work: clock => () => clock.sleep(90).then(() => Promise.reject(reset())),
    policy: { ...STEADY, attemptTimeoutMs: 40 },
  },
  'abort while waiting': { work: () => () => Promise.reject(reset()), abortAt: 50 },
  'abort while calling': { work: clock => () => clock.sleep(100), abortAt: 50 },
  'abort of a call that reads its signal': {
    work:
      clock =>
      ({ signal }) =>
        clock.sleep(100, signal),
    abortAt: 50,
  },
  'a denied budget': {
    work: () => () => Promise.reject(reset()),
    options: clock => ({ budget: createBudget({ kind: 'rate', perSecond: 1, burst: 1 }, { clock }) }),
  },
  'an open breaker': {
    work: () => () => Promise.reject(reset()),
    options: clock => {
      const breaker = createBreaker({}, { clock })
      breaker.forceOpen()
      return { breaker }
    },
  },
  'a hook that takes over': {
    work: () => () => Promise.reject(reset()),
    options: () => ({ onExhausted: () => 'taken' }),
  },
  'a hook that fails': {
    work: () => () => Promise.reject(reset()),
    options: () => ({ onExhausted: () => Promise.reject(new Error('away')) }),
  },
  'an unreadable policy': { work: () => () => 1, policy: { maxAttempts: 0 } },
}

describe('nothing is left behind: no alarm, no timer, no listener, no unhandled rejection', () => {
  for (const [name, { work, policy = STEADY, options, abortAt }] of Object.entries(ENDINGS))
    it(`after ${name}`, async () => {
      const clock = virtualClock()
      await expectNoLeaks(
        async check => {
          const controller = check.controller()
          const { signal } = controller
          const settled = retry(work(clock), policy, { ports: { clock }, signal, ...options?.(clock) }).then(
            value => ({ value }),
            (error: unknown) => ({ error }),
          )
          if (abortAt !== undefined) {
            await clock.advance(abortAt)
            controller.abort()
          }
          await clock.drain()
          assert.notEqual(await settled, undefined)
        },
        { clock },
      )
    })

  it('on the real clock either, where timers are real', async () => {
    await expectNoLeaks(async check => {
      const { signal } = check.controller()
      const quick = { maxAttempts: 3, initialDelayMs: 1, attemptTimeoutMs: 5_000 }
      let calls = 0
      await retry(() => (++calls < 3 ? Promise.reject(reset()) : 'ok'), quick, { signal })
      await retry(() => new Promise(() => {}), { ...quick, attemptTimeoutMs: 2 }, { signal }).catch(() => {})
      for (let n = 0; n < 200; n++) await retry(() => n)
      assert.equal(calls, 3)
    })
  })
})
