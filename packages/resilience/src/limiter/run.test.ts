import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { failure, SUCCESS } from '../classify/outcome.ts'
import { permanent, retryAfter, transient } from '../classify/marks.ts'
import { InvalidPolicyError, RefusedError } from '../errors.ts'
import { endOf, heldWork } from '../held.test-kit.ts'
import { historyOf } from '../retry/history.ts'
import type { RetryOptions, Work } from '../retry/options.ts'
import type { RetryPolicyInput } from '../retry/policy.ts'
import { retry } from '../retry/run.ts'
import { reset, STEADY } from '../retry/scripted.test-kit.ts'
import { virtualClock } from '../testing/index.ts'
import { nextLimit, wasDropped } from './decide.ts'
import { withLimiterDefaults, type LimiterInput } from './policy.ts'
import { createLimiter } from './run.ts'
import { startLimit } from './state.ts'

const ONCE: RetryPolicyInput = { ...STEADY, maxAttempts: 1 }
const AIMD: LimiterInput = { kind: 'aimd', initialLimit: 10 }

function setting(policy: LimiterInput = AIMD) {
  const clock = virtualClock()
  const limiter = createLimiter(policy, { name: 'search', random: () => 0.5 })
  const call = (work: Work<unknown>, callPolicy: RetryPolicyInput = ONCE, more: RetryOptions = {}): Promise<unknown> =>
    endOf(retry(work, callPolicy, { ports: { clock, random: () => 0.5 }, budget: false, gates: [limiter], ...more }))
  const fail = (failed: Error) =>
    call(() => {
      throw failed
    })
  return { clock, limiter, call, fail }
}

describe('a limiter', () => {
  it('refuses what is more than its limit, and says what it has found', async () => {
    const { call, limiter } = setting({ kind: 'aimd', initialLimit: 2 })
    const { work } = heldWork()
    for (let n = 0; n < 2; n++) void call(work)
    const refused = await call(work)
    assert.ok(refused instanceof RefusedError)
    assert.deepEqual([refused.code, limiter.inFlight, limiter.limit], ['throttled', 2, 2])
    assert.match(refused.message, /^the limiter "search" .* 2 calls at once \(of 1 to 200\), and 2 are under way/)
  })

  it('grows by answers while it is in use, and shrinks by time-outs and by answers that ask for less', async () => {
    const { call, clock, limiter, fail } = setting()
    const { work, end } = heldWork()
    for (let n = 0; n < 5; n++) void call(work)
    await end()
    assert.equal(limiter.limit, 10, 'of the first call there was one under way')
    for (let n = 0; n < 4; n++) await end()
    assert.equal(limiter.limit, 11)
    await fail(retryAfter(1_000, new Error('slow down')))
    assert.equal(limiter.limit, 9)
    void call(heldWork().work, { ...ONCE, attemptTimeoutMs: 50 })
    await clock.advance(50)
    assert.equal(limiter.limit, 8)
  })

  it('learns nothing from other failures, and nothing from an abort', async () => {
    const { call, limiter, fail } = setting()
    for (const error of [permanent(new Error('404')), transient(new Error('refused')), new Error('a bug')])
      await fail(error)
    const controller = new AbortController()
    const aborted = call(heldWork().work, ONCE, { signal: controller.signal })
    controller.abort()
    await aborted
    assert.equal(limiter.limit, 10)
  })

  it('measures each attempt by itself, and no wait', async () => {
    const policy = withLimiterDefaults({ kind: 'vegas', initialLimit: 1 })
    const { call, clock, limiter } = setting(policy)
    const durations = [10, 20, 40]
    const work: Work<unknown> = async ({ attempt }) => {
      await clock.sleep(durations[attempt - 1]!)
      if (attempt < 3) throw reset()
    }
    const ended = call(work, { ...STEADY, initialDelayMs: 5_000 })
    await clock.drain()
    await ended
    const state = startLimit(policy)
    for (const durationMs of durations)
      nextLimit(policy, state, { durationMs, inFlight: 1, dropped: durationMs < 40, roll: 0.5 })
    assert.equal(limiter.limit, Math.floor(state.limit))
    assert.equal(state.baseMs, 40)
  })

  it('counts work that was given up until it has really ended', async () => {
    const { call, clock, limiter } = setting()
    const { work, end } = heldWork()
    void call(work, { ...ONCE, attemptTimeoutMs: 50 })
    await clock.advance(50)
    assert.equal(limiter.inFlight, 1)
    await end()
    assert.equal(limiter.inFlight, 0)
  })

  it('has nobody under way while operations wait, or after a later gate refused them', async () => {
    const { call, limiter } = setting()
    const { work, end } = heldWork()
    void call(work, STEADY)
    await end(reset())
    assert.equal(limiter.inFlight, 0)
    const shut = { accompany: () => ({ enter: () => new RefusedError('throttled', 'shut') }) }
    await call(work, ONCE, { gates: [limiter, shut] })
    assert.equal(limiter.inFlight, 0)
  })

  it('asks for room once, though a later gate has the operation ask twice', async () => {
    const { call, clock, limiter } = setting()
    let asked = 0
    const slow = { accompany: () => ({ enter: (now: number) => (asked++ === 0 ? now + 50 : undefined) }) }
    const { work, end } = heldWork()
    void call(work, ONCE, { gates: [limiter, slow] })
    await clock.advance(50)
    assert.deepEqual([asked, limiter.inFlight], [2, 1])
    await end()
    assert.equal(limiter.inFlight, 0)
  })

  it('ends a retry that finds no room with the error of the attempt before', async () => {
    const { call, clock } = setting({ kind: 'aimd', initialLimit: 1 })
    const { work, end } = heldWork()
    const lost = reset()
    const trying = call(work, STEADY)
    await end(lost)
    void call(work)
    await clock.advance(100)
    assert.deepEqual([await trying, historyOf(lost)?.reason], [lost, 'throttled'])
  })

  it('refuses a document that it cannot keep, with every problem', () => {
    assert.throws(
      () => createLimiter({ kind: 'aimd', minLimit: 0, backoffRatio: 2 }),
      (error: unknown) => error instanceof InvalidPolicyError && error.problems.length === 2,
    )
  })
})

describe('an attempt', () => {
  it('is a sample if it succeeded, dropped if it timed out or was turned away, and else says nothing', () => {
    assert.equal(wasDropped(SUCCESS), false)
    assert.equal(wasDropped(failure('ambiguous')), true)
    assert.equal(wasDropped(failure('throttled')), true)
    for (const fault of ['transient', 'permanent', 'ignored'] as const)
      assert.equal(wasDropped(failure(fault)), undefined, fault)
  })
})

describe('a limiter under another policy', () => {
  it('counts the calls of both, and goes on from its limit within the new range', async () => {
    const { call, limiter } = setting()
    const { work, end } = heldWork()
    for (let n = 0; n < 8; n++) void call(work)
    const lowered = limiter.under(withLimiterDefaults({ kind: 'aimd', maxLimit: 4 }))
    assert.deepEqual([lowered.limit, lowered.inFlight], [4, 8])
    assert.ok((await call(work, ONCE, { gates: [lowered] })) instanceof RefusedError)
    for (let n = 0; n < 5; n++) await end()
    assert.deepEqual([lowered.limit, lowered.inFlight], [4, 3], 'those begun before teach it within its range')
    void call(work, ONCE, { gates: [lowered] })
    assert.deepEqual([limiter.inFlight, limiter.limit], [4, 4])
  })

  it('lets more in at once when its range is raised, and keeps what it has found', async () => {
    const { call, limiter } = setting({ kind: 'vegas', initialLimit: 2 })
    const { work } = heldWork()
    for (let n = 0; n < 2; n++) void call(work)
    const raised = limiter.under(withLimiterDefaults({ kind: 'vegas', minLimit: 3, initialLimit: 50 }))
    void call(work, ONCE, { gates: [raised] })
    assert.deepEqual([raised.limit, raised.inFlight], [3, 3])
  })

  it('of another kind keeps the limit, and finds anew what it compares with', async () => {
    const { call, clock, limiter } = setting({ kind: 'vegas', initialLimit: 1, maxLimit: 1 })
    const last = async (ms: number): Promise<void> => {
      const ended = call(() => clock.sleep(ms))
      await clock.advance(ms)
      await ended
    }
    await last(1)
    const policy = withLimiterDefaults({ kind: 'gradient2', initialLimit: 20 })
    const other = limiter.under(policy)
    assert.equal(other.limit, 1)
    await last(1_000)
    const state = { ...startLimit(policy), limit: 1 }
    assert.equal(other.limit, nextLimit(policy, state, { durationMs: 1_000, inFlight: 1, dropped: false, roll: 0.5 }))
  })
})

describe('a limit that was found before', () => {
  it('is refused if it is no number of at least one, and changes nothing', () => {
    const { limiter } = setting()
    for (const wrong of [NaN, 0, -1, 0.5, -Infinity, '5', undefined, null])
      assert.throws(() => limiter.restore(wrong as number), InvalidPolicyError, String(wrong))
    assert.equal(limiter.limit, 10)
    limiter.restore(7.5)
    assert.equal(limiter.limit, 7)
  })
})
