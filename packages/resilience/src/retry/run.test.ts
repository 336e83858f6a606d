import assert from 'node:assert/strict'
import { describe, expect, it, vi } from 'vitest'
import { createBreaker } from '../breaker/run.ts'
import { createBudget } from '../budget/run.ts'
import { ignored, permanent, retryAfter, transient } from '../classify/marks.ts'
import { AttemptTimeoutError, DeadlineError, InvalidPolicyError, RefusedError } from '../errors.ts'
import { observe } from './report.ts'
import { virtualClock } from '../testing/index.ts'
import { describeHistory, historyOf } from './history.ts'
import { retry } from './run.ts'
import { outcomeOf, reset, scripted, STEADY } from './scripted.test-kit.ts'

describe('retry', () => {
  it('returns what the first attempt returned, without waiting', async () => {
    const { work, ports, calls, clock } = scripted('yes')
    assert.equal(await retry(work, STEADY, { ports }), 'yes')
    assert.deepEqual(calls, [0])
    assert.equal(clock.pending, 0)
  })

  it('waits 100, 200 and 400 ms between four attempts, then throws the last error', async () => {
    const errors = [reset('1'), reset('2'), reset('3'), reset('4')]
    const { work, ports, calls, clock } = scripted(...errors)
    const { error } = await outcomeOf(clock, retry(work, STEADY, { ports }))
    assert.equal(error, errors[3])
    assert.deepEqual(calls, [0, 100, 300, 700])
  })

  it('tells the history beside the error and leaves the error itself unchanged', async () => {
    const last = Object.freeze(reset())
    const { work, ports, clock } = scripted(reset(), last)
    const { error } = await outcomeOf(clock, retry(work, { ...STEADY, maxAttempts: 2 }, { ports }))
    assert.equal(error, last)
    const history = historyOf(error)!
    assert.equal(history.reason, 'attempts')
    assert.equal(history.attempts, 2)
    assert.deepEqual(
      history.failures.map(({ attempt, fault }) => [attempt, fault]),
      [
        [1, 'ambiguous'],
        [2, 'ambiguous'],
      ],
    )
    assert.equal(describeHistory(history), '2 attempts in 100 ms: ECONNRESET, ECONNRESET (stopped: attempts)')
    assert.equal(historyOf(new Error('another')), undefined)
  })

  it('keeps the latest 32 failures of a long operation, and the count of all', async () => {
    const { work, ports, clock } = scripted(reset())
    const { error } = await outcomeOf(
      clock,
      retry(work, { ...STEADY, maxAttempts: 50, totalBudgetMs: 900_000 }, { ports, budget: false }),
    )
    assert.equal(historyOf(error)!.attempts, 50)
    assert.deepEqual(
      historyOf(error)!
        .failures.map(({ attempt }) => attempt)
        .slice(0, 2),
      [19, 20],
    )
  })

  it('does not retry what it knows nothing about: a bug does not pass by itself', async () => {
    const bug = new TypeError('undefined is not a function')
    const { work, ports, calls, clock } = scripted(bug)
    const { error } = await outcomeOf(clock, retry(work, STEADY, { ports }))
    assert.equal(error, bug)
    assert.equal(historyOf(error)!.reason, 'permanent')
    assert.equal(calls.length, 1)
  })

  it('takes the word of code that marks its errors', async () => {
    const plain = new Error('try me again')
    const { work, ports, calls, clock } = scripted(transient(plain), retryAfter(1_000, plain), permanent(plain))
    const { error } = await outcomeOf(clock, retry(work, STEADY, { ports }))
    assert.equal(error, plain)
    // The last mark of the one error object counts at every look.
    assert.equal(calls.length, 1)
    const marked = scripted(transient(new Error('a')), retryAfter(1_000, new Error('b')), ignored(new Error('c')))
    await outcomeOf(marked.clock, retry(marked.work, STEADY, { ports: marked.ports }))
    assert.deepEqual(marked.calls, [0, 100, 1_200], 'a hint of one second, and a tenth more')
  })

  it('looks for the reason through the causes of an error', async () => {
    const wrapped = new Error('could not load', { cause: new Error('client', { cause: reset() }) })
    const { work, ports, calls, clock } = scripted(wrapped, 'yes')
    assert.deepEqual(await outcomeOf(clock, retry(work, STEADY, { ports })), { value: 'yes' })
    assert.equal(calls.length, 2)
  })

  it('leaves the judgement of errors to the caller where the caller has one', async () => {
    const { work, ports, calls, clock } = scripted(new Error('busy'), new Error('busy'), 'yes')
    const classify = (error: unknown) => ((error as Error).message === 'busy' ? 'transient' : undefined)
    assert.deepEqual(await outcomeOf(clock, retry(work, STEADY, { ports, classify })), { value: 'yes' })
    assert.equal(calls.length, 3)
  })

  it('works with functions that are not async, that throw, and that return thenables', async () => {
    const { ports } = scripted()
    assert.equal(await retry(() => 7, STEADY, { ports }), 7)
    assert.equal(await retry(() => undefined, STEADY, { ports }), undefined)
    const bug = new Error('at once')
    await assert.rejects(
      retry(() => {
        throw bug
      }),
      bug,
    )
    // oxlint-disable-next-line unicorn/no-thenable
    const thenable = { then: (resolve: (value: number) => void) => resolve(8) } as PromiseLike<number>
    assert.equal(await retry(() => thenable, STEADY, { ports }), 8)
  })

  it('throws what was thrown, even if it is no error', async () => {
    await assert.rejects(
      retry(() => Promise.reject('just a text')),
      error => error === 'just a text',
    )
  })

  it('says what it was given when that is no function', async () => {
    await assert.rejects(retry(undefined as never), /retry calls a function, and was given undefined/)
  })

  it('refuses a bad policy with all of its problems, before the first attempt', async () => {
    const work = vi.fn<() => string>(() => 'never')
    const error = (await retry(work, { maxAtempts: 3, maxDelayMs: -1 } as object).catch(e => e)) as InvalidPolicyError
    assert.ok(error instanceof InvalidPolicyError)
    assert.equal(error.code, 'invalid-policy')
    assert.deepEqual(
      error.problems.map(problem => problem.at),
      ['maxAtempts', 'maxDelayMs'],
    )
    expect(error.message).toContain('did you mean maxAttempts?')
    assert.equal(work.mock.calls.length, 0)
  })

  it('heeds a policy object that is changed between two calls', async () => {
    const policy = { ...STEADY, maxAttempts: 2, retryableStatusCodes: [503] }
    const first = scripted(Object.assign(new Error(), { status: 503 }))
    await outcomeOf(first.clock, retry(first.work, policy, { ports: first.ports }))
    policy.retryableStatusCodes.push(500)
    policy.maxAttempts = 3
    const second = scripted(Object.assign(new Error(), { status: 500 }))
    await outcomeOf(second.clock, retry(second.work, policy, { ports: second.ports }))
    assert.deepEqual([first.calls.length, second.calls.length], [2, 3])
  })

  it('gives one idempotency key to all attempts of an operation and another to the next', async () => {
    const keys: string[] = []
    const { ports, clock } = scripted()
    const work = (attempt: { idempotencyKey: string }) => {
      keys.push(attempt.idempotencyKey)
      throw reset()
    }
    await outcomeOf(clock, retry(work, STEADY, { ports }))
    await outcomeOf(clock, retry(work, STEADY, { ports, idempotencyKey: 'order-1' }))
    assert.equal(new Set(keys.slice(0, 4)).size, 1)
    expect(keys[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.deepEqual(keys.slice(4), ['order-1', 'order-1', 'order-1', 'order-1'])
  })

  it('draws a number of its own for every wait: two operations do not wait alike', async () => {
    const clock = virtualClock()
    let draws = 0
    const ports = { clock, random: () => (draws++ % 10) / 10 }
    const waits = [0, 1].map(() => {
      const calls: number[] = []
      void retry(() => (calls.push(clock.monotonic()), Promise.reject(reset())), { maxAttempts: 2 }, { ports }).catch(
        () => {},
      )
      return calls
    })
    await clock.drain()
    assert.notEqual(waits[0]![1], waits[1]![1])
  })

  it('spends only the share of a policy that is meant for the process', async () => {
    const { work, ports, calls, clock } = scripted(reset())
    const policy = { ...STEADY, maxAttempts: 12, inProcess: { maxAttempts: 2 } }
    const exhausted = vi.fn<(e: { policy: { maxAttempts: number }; history: { attempts: number } }) => string>(
      () => 'handed over',
    )
    const { value } = await outcomeOf(clock, retry(work, policy, { ports, onExhausted: exhausted }))
    assert.equal(value, 'handed over')
    assert.equal(calls.length, 2)
    assert.equal(exhausted.mock.calls[0]![0].policy.maxAttempts, 12)
    assert.equal(exhausted.mock.calls[0]![0].history.attempts, 2)
  })

  it('throws the last error, and tells of it, when the hook for exhausted operations fails', async () => {
    const { work, ports, clock } = scripted(reset())
    const events: string[] = []
    const { error } = await outcomeOf(
      clock,
      retry(work, STEADY, {
        ports,
        telemetry: event => events.push(event.kind),
        onExhausted: () => Promise.reject(new Error('service away')),
      }),
    )
    assert.equal((error as { code?: string }).code, 'ECONNRESET')
    assert.equal(events.at(-1), 'exhausted-hook-failed')
  })

  it('does not ask the hook about errors that no patience cures', async () => {
    const { work, ports, clock } = scripted(new Error('bug'))
    const hook = vi.fn<() => string>(() => 'never')
    await outcomeOf(clock, retry(work, STEADY, { ports, onExhausted: hook }))
    assert.equal(hook.mock.calls.length, 0)
  })

  it('judges returned values where it is asked to, and returns the last one when retries end', async () => {
    const { work, ports, clock, calls } = scripted({ status: 503 })
    const discarded: unknown[] = []
    const { value } = await outcomeOf(
      clock,
      retry(
        work,
        { ...STEADY, maxAttempts: 3 },
        {
          ports,
          classifyResult: () => ({ kind: 'failure', fault: 'transient' }),
          discard: given => discarded.push(given),
        },
      ),
    )
    assert.deepEqual(value, { status: 503 })
    assert.equal(historyOf(value)!.reason, 'attempts')
    assert.equal(calls.length, 3)
    assert.equal(discarded.length, 2, 'the last one is the caller’s')
  })
})

describe('waiting', () => {
  it('never calls earlier than the server asked, whatever the cap', async () => {
    const busy = Object.assign(new Error(), { status: 429, headers: { 'Retry-After': '20' } })
    const { work, ports, calls, clock } = scripted(busy, 'yes')
    await outcomeOf(clock, retry(work, { ...STEADY, maxDelayMs: 1_000 }, { ports }))
    assert.deepEqual(calls, [0, 22_000], 'twenty seconds and half of the spread')
  })

  it('counts a wait that is given as a date from the wall clock, at the moment of the failure', async () => {
    const busy = Object.assign(new Error(), { status: 503, headers: {} })
    const { work, ports, calls, clock } = scripted(busy, 'yes')
    busy.headers = { 'Retry-After': new Date(clock.now() + 20_000).toUTCString() }
    await outcomeOf(clock, retry(work, STEADY, { ports }))
    assert.deepEqual(calls, [0, 22_000])
  })

  it('gives up at once with retry-after-too-long rather than wait past the deadline', async () => {
    const busy = Object.assign(new Error(), {
      status: 503,
      response: { headers: new Headers({ 'retry-after': '31' }) },
    })
    const { work, ports, calls, clock } = scripted(busy)
    const { error } = await outcomeOf(clock, retry(work, { ...STEADY, totalBudgetMs: 30_000 }, { ports }))
    assert.equal(error, busy)
    assert.equal(calls.length, 1)
    assert.equal(clock.monotonic(), 0)
  })

  it('gives up instead of squeezing a wait into what is left of the deadline', async () => {
    const { work, ports, calls, clock } = scripted(reset())
    const { error } = await outcomeOf(clock, retry(work, { ...STEADY, totalBudgetMs: 600 }, { ports }))
    assert.equal(historyOf(error)!.reason, 'deadline')
    assert.deepEqual(calls, [0, 100, 300])
    assert.equal(clock.monotonic(), 300)
  })

  it('does not begin an attempt that probably cannot end in time, unless told to', async () => {
    const policy = { ...STEADY, totalBudgetMs: 400 }
    const fits = scripted(reset())
    await outcomeOf(fits.clock, retry(fits.work, policy, { ports: fits.ports, expectedCallMs: 150 }))
    assert.deepEqual(fits.calls, [0, 100])
    const always = scripted(reset())
    await outcomeOf(
      always.clock,
      retry(always.work, policy, { ports: always.ports, expectedCallMs: 150, lastAttempt: 'always' }),
    )
    assert.deepEqual(always.calls, [0, 100, 300])
  })

  it('keeps an earlier deadline of the caller, given in wall time', async () => {
    const { work, ports, calls, clock } = scripted(reset())
    const { error } = await outcomeOf(clock, retry(work, STEADY, { ports, deadlineAt: clock.now() + 250 }))
    assert.equal(historyOf(error)!.reason, 'deadline')
    assert.deepEqual(calls, [0, 100])
  })

  it('follows a curve that is a function, within the floor and the cap of the policy', async () => {
    const { work, ports, calls, clock } = scripted(reset())
    const curve = ({ attempt }: { attempt: number }): number => attempt * 700
    await outcomeOf(clock, retry(work, { ...STEADY, maxDelayMs: 1_000 }, { ports, curve }))
    assert.deepEqual(calls, [0, 700, 1_700, 2_700])
  })

  it('is not disturbed by a wall clock that steps back or forth', async () => {
    const { work, ports, calls, clock } = scripted(reset(), reset(), 'yes')
    const result = retry(work, STEADY, { ports })
    await clock.advance(50)
    clock.jumpWall(-3_600_000)
    await clock.advance(100)
    clock.jumpWall(7_200_000)
    assert.deepEqual(await outcomeOf(clock, result), { value: 'yes' })
    assert.deepEqual(calls, [0, 100, 300])
  })
})

describe('time limits', () => {
  const forever = () => new Promise<never>(() => {})

  it('ends an attempt after attemptTimeoutMs and makes another, distinct from the deadline', async () => {
    const clock = virtualClock()
    let calls = 0
    const work = () => (++calls === 1 ? forever() : Promise.resolve('second'))
    const result = retry(work, { ...STEADY, attemptTimeoutMs: 1_000 }, { ports: { clock } })
    assert.deepEqual(await outcomeOf(clock, result), { value: 'second' })
    assert.equal(clock.monotonic(), 1_100)
  })

  it('throws AttemptTimeoutError when the last attempt took too long', async () => {
    const clock = virtualClock()
    const { error } = await outcomeOf(
      clock,
      retry(forever, { maxAttempts: 1, attemptTimeoutMs: 1_000 }, { ports: { clock } }),
    )
    assert.ok(error instanceof AttemptTimeoutError)
    assert.equal(error.code, 'attempt-timeout')
    assert.equal(historyOf(error)!.reason, 'attempts')
  })

  it('ends a running attempt at the deadline, tells so, and names the error before it as the cause', async () => {
    const clock = virtualClock()
    const first = reset()
    let calls = 0
    const work = () => (++calls === 1 ? Promise.reject(first) : forever())
    const { error } = await outcomeOf(clock, retry(work, { ...STEADY, totalBudgetMs: 5_000 }, { ports: { clock } }))
    assert.ok(error instanceof DeadlineError)
    assert.equal(error.cause, first)
    assert.equal(historyOf(error)!.reason, 'deadline')
    assert.equal(clock.monotonic(), 5_000)
  })

  it('aborts the signal of an attempt that had its time, and of no other', async () => {
    const clock = virtualClock()
    const signals: AbortSignal[] = []
    const work = ({ signal }: { signal: AbortSignal }) =>
      signals.push(signal) === 1 ? forever() : Promise.resolve('ok')
    await outcomeOf(clock, retry(work, { ...STEADY, attemptTimeoutMs: 50 }, { ports: { clock } }))
    assert.deepEqual(
      signals.map(signal => signal.aborted),
      [true, false],
    )
    assert.ok(signals[0]!.reason instanceof AttemptTimeoutError)
  })

  it('tells an attempt how much time it has', async () => {
    const clock = virtualClock()
    const remaining: number[] = []
    const work = (attempt: { remainingMs: number }) => {
      remaining.push(attempt.remainingMs)
      throw reset()
    }
    await outcomeOf(clock, retry(work, { ...STEADY, attemptTimeoutMs: 500, totalBudgetMs: 700 }, { ports: { clock } }))
    assert.deepEqual(remaining, [500, 500, 400])
  })

  it('warns once when a call goes on long after it was told to stop', async () => {
    const clock = virtualClock()
    const warnings: string[] = []
    const work = () => clock.sleep(5_000)
    await outcomeOf(
      clock,
      retry(
        work,
        { maxAttempts: 3, attemptTimeoutMs: 100 },
        {
          ports: { clock },
          name: 'deaf',
          telemetry: event => event.kind === 'warning' && warnings.push(event.code),
        },
      ),
    )
    assert.deepEqual(warnings, ['signal-ignored'])
  })
})

describe('gates', () => {
  it('denies a retry that the budget does not cover at once: the real error, and budget as the reason', async () => {
    const { work, ports, calls, clock } = scripted(reset())
    const budget = createBudget({ kind: 'ratio', ratio: 0, windowMs: 1_000, minRetries: 1 }, { clock })
    const { error } = await outcomeOf(clock, retry(work, STEADY, { ports, budget }))
    assert.equal((error as { code: string }).code, 'ECONNRESET')
    assert.equal(historyOf(error)!.reason, 'budget')
    assert.deepEqual(calls, [0, 100])
    assert.equal(clock.monotonic(), 100, 'nobody waits for a retry that will be denied')
  })

  it('pays when the attempt begins: an operation aborted while it waits has taken nothing', async () => {
    const { work, ports, clock } = scripted(reset())
    const budget = createBudget({ kind: 'ratio', ratio: 0, windowMs: 60_000, minRetries: 1 }, { clock })
    const controller = new AbortController()
    const result = retry(work, STEADY, { ports, budget, signal: controller.signal }).catch(() => {})
    await clock.advance(50)
    controller.abort()
    await result
    assert.equal(budget.balance, 1)
  })

  it('shares one budget among all bare calls of a clock: a tenth of the calls, at least a hundred', async () => {
    const clock = virtualClock()
    const failing = () => Promise.reject(reset())
    const results = Array.from({ length: 300 }, () =>
      retry(failing, { maxAttempts: 2 }, { ports: { clock } }).catch(e => e),
    )
    await clock.drain()
    const reasons = (await Promise.all(results)).map(error => historyOf(error)!)
    const attempts = reasons.reduce((sum, { attempts: made }) => sum + made, 0)
    assert.equal(attempts, 400)
  })

  it('refuses new calls too when the budget says so', async () => {
    const { work, ports, clock } = scripted('yes')
    const budget = createBudget({ kind: 'rate', perSecond: 1, burst: 1, whenEmpty: 'deny-calls' }, { clock })
    assert.equal(budget.tryWithdraw('transient'), true)
    await assert.rejects(retry(work, STEADY, { ports, budget }), (error: RefusedError) => error.code === 'budget')
  })

  it('asks the breaker before every attempt: one that opens ends the sequence with the real error', async () => {
    const { work, ports, calls, clock } = scripted(reset())
    const breaker = createBreaker({ window: 'consecutive', consecutiveFailures: 1 }, { clock })
    const result = retry(work, STEADY, { ports, breaker })
    await clock.advance(150)
    breaker.forceOpen()
    const { error } = await outcomeOf(clock, result)
    assert.equal(historyOf(error)!.reason, 'breaker-open')
    assert.equal((error as { code: string }).code, 'ECONNRESET')
    assert.deepEqual(calls, [0, 100])
  })

  it('records one event for a whole operation, and an abort as none', async () => {
    const clock = virtualClock()
    const breaker = createBreaker({ window: 'consecutive', consecutiveFailures: 2 }, { clock })
    const { work } = scripted(reset())
    await outcomeOf(clock, retry(work, STEADY, { ports: { clock }, breaker }))
    assert.equal(breaker.phase, 'closed')
    const controller = new AbortController()
    const aborted = retry(() => new Promise(() => {}), STEADY, { ports: { clock }, breaker, signal: controller.signal })
    controller.abort()
    await aborted.catch(() => {})
    assert.equal(breaker.phase, 'closed')
    await outcomeOf(clock, retry(work, STEADY, { ports: { clock }, breaker }))
    assert.equal(breaker.phase, 'open')
    await assert.rejects(retry(work, STEADY, { ports: { clock }, breaker }), RefusedError)
  })
})

describe('telemetry', () => {
  it('tells the whole story in order', async () => {
    const { work, ports, clock } = scripted(reset(), 'yes')
    const events: unknown[] = []
    await outcomeOf(
      clock,
      retry(work, STEADY, {
        ports,
        name: 'getUser',
        telemetry: e => events.push([e.kind, 'attempt' in e && e.attempt]),
      }),
    )
    assert.deepEqual(events, [
      ['attempt-started', 1],
      ['attempt-ended', 1],
      ['retry-scheduled', 1],
      ['attempt-started', 2],
      ['attempt-ended', 2],
    ])
  })

  it('is heard by observers of the process until they leave', async () => {
    const kinds: string[] = []
    const leave = observe(event => kinds.push(event.kind))
    await retry(() => 1)
    leave()
    await retry(() => 1)
    assert.deepEqual(kinds, ['attempt-started', 'attempt-ended'])
  })

  it('is not disturbed by an observer that throws', async () => {
    const complaint = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { work, ports, clock } = scripted(reset(), 'yes')
    const telemetry = () => {
      throw new Error('observer')
    }
    assert.deepEqual(await outcomeOf(clock, retry(work, STEADY, { ports, telemetry })), { value: 'yes' })
    expect(complaint).toHaveBeenCalled()
    complaint.mockRestore()
  })
})
