import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { InvalidPolicyError, RefusedError } from '../errors.ts'
import { endOf } from '../held.test-kit.ts'
import type { Gate } from '../retry/companion.ts'
import { historyOf } from '../retry/history.ts'
import type { RetryOptions } from '../retry/options.ts'
import type { RetryPolicyInput } from '../retry/policy.ts'
import { retry } from '../retry/run.ts'
import { reset, STEADY } from '../retry/scripted.test-kit.ts'
import { expectNoLeaks, virtualClock } from '../testing/index.ts'
import { withRateLimitDefaults, type RateLimitInput } from './policy.ts'
import { createRateLimit } from './run.ts'

const ONCE: RetryPolicyInput = { ...STEADY, maxAttempts: 1 }

function setting(policy: Partial<RateLimitInput> = {}, clock = virtualClock()) {
  const limit = createRateLimit({ perSecond: 10, burst: 1, ...policy }, { name: 'mail', clock })
  const starts: number[] = []
  const send = (): number => starts.push(clock.monotonic())
  const call = (
    work: () => unknown = send,
    callPolicy: RetryPolicyInput = ONCE,
    more: RetryOptions = {},
  ): Promise<unknown> =>
    endOf(retry(work, callPolicy, { ports: { clock, random: () => 0.5 }, budget: false, gates: [limit], ...more }))
  return { clock, limit, starts, send, call }
}

describe('a rate limit', () => {
  it('lets a burst start at once, and each that follows in its turn', async () => {
    const { call, clock, starts } = setting({ burst: 2 })
    for (let n = 0; n < 5; n++) void call()
    await clock.drain()
    assert.deepEqual(starts, [0, 0, 100, 200, 300])
  })

  it('lets start what is due also on a clock that moves on with every reading', async () => {
    let ticks = 0
    const clock = virtualClock()
    const real = clock.monotonic.bind(clock)
    clock.monotonic = () => real() + ++ticks / 1_000
    const { call, starts } = setting({ burst: 1 }, clock)
    for (let n = 0; n < 3; n++) void call()
    await clock.advance(500)
    assert.equal(starts.length, 3)
  })

  it('charges every attempt, so that retries cannot escape it', async () => {
    const { call, clock, starts, send } = setting()
    const failing = (): never => {
      send()
      throw reset()
    }
    const ended = call(failing, { ...STEADY, maxAttempts: 3, initialDelayMs: 1, maxDelayMs: 1 })
    await clock.drain()
    await ended
    assert.deepEqual(starts, [0, 100, 200])
  })

  it('refuses at once whoever would wait too long, and says when to come back', async () => {
    const { call, starts } = setting({ perSecond: 0.5 })
    await call()
    const refused = await call()
    assert.ok(refused instanceof RefusedError)
    assert.deepEqual([refused.code, refused.retryAfterMs, starts], ['throttled', 2_000, [0]])
    assert.match(refused.message, /^the rate limit "mail" of 0.5 a second .* 2000 ms.*maxWaitMs \(1000\)/)
  })

  it('refuses whoever finds the queue full', async () => {
    const { call, clock, starts } = setting({ maxQueued: 1 })
    const ends = [call(), call(), call()]
    await clock.drain()
    assert.equal(historyOf((await Promise.all(ends))[2])?.reason, 'throttled')
    assert.deepEqual(starts, [0, 100])
  })

  it('promises nothing after a deadline that it knows', async () => {
    const { call, clock, starts } = setting()
    await call()
    const late = await call(undefined, ONCE, { deadlineAt: clock.now() + 99 })
    assert.equal(historyOf(late)?.reason, 'throttled')
    const inTime = call(undefined, ONCE, { deadlineAt: clock.now() + 101 })
    await clock.drain()
    await inTime
    assert.deepEqual(starts, [0, 100])
  })

  it('gives the token of an operation that is aborted while it waits to whoever comes next', async () => {
    const { call, clock, starts } = setting()
    await call()
    const controller = new AbortController()
    const aborted = call(undefined, ONCE, { signal: controller.signal })
    await clock.advance(50)
    controller.abort('enough')
    assert.equal(await aborted, 'enough')
    void call()
    await clock.drain()
    assert.deepEqual(starts, [0, 100])
  })

  it('keeps its promise, without charging twice, to one that another gate has ask again earlier or later', async () => {
    const { call, clock, limit, starts } = setting()
    await call()
    let asked = 0
    const wakeUps = [50, 150]
    const restless: Gate = {
      accompany: operation => {
        void clock.sleep(50).then(() => operation.askAgain())
        return { enter: () => wakeUps[asked++ - 1] }
      },
    }
    void call(undefined, ONCE, { gates: [limit, restless] })
    void call()
    await clock.advance(75)
    assert.equal(starts.length, 1)
    await clock.drain()
    assert.deepEqual(starts, [0, 100, 200])
  })

  it('counts by its own clock, whatever that of an operation says', async () => {
    const { limit, clock } = setting()
    const other = virtualClock()
    await other.advance(5_000)
    const starts: number[] = []
    const ports = { clock: other, random: () => 0.5 }
    for (let n = 0; n < 2; n++)
      void retry(() => starts.push(other.monotonic()), ONCE, { ports, budget: false, gates: [limit] })
    await clock.advance(100)
    await other.advance(100)
    assert.deepEqual(starts, [5_000, 5_100])
  })

  it('leaves nothing behind when operations end while they wait', async () => {
    const { call, clock, starts } = setting()
    await expectNoLeaks(
      async ({ controller }) => {
        const leaving = controller()
        const all = [call(), call(undefined, ONCE, { signal: leaving.signal }), call()]
        leaving.abort()
        await clock.drain()
        await Promise.all(all)
      },
      { clock },
    )
    assert.deepEqual(starts, [0, 200], 'whoever was told an instant is told no other')
  })

  it('refuses a document that it cannot keep, with every problem', () => {
    assert.throws(
      () => createRateLimit({ perSecond: 0, burst: 0 }),
      (error: unknown) => error instanceof InvalidPolicyError && error.problems.length === 2,
    )
  })
})

describe('a rate limit after a stall', () => {
  it('lets no more start at once than its burst, and the others one after another', async () => {
    for (const burst of [1, 3]) {
      // The limit's clock goes first: whoever wakes finds that it is much later, as after a blocked event loop.
      const { clock, limit } = setting({ perSecond: 20, burst, maxWaitMs: 2_000 })
      const theirs = virtualClock()
      const starts: number[] = []
      const ports = { clock: theirs, random: () => 0.5 }
      for (let n = 0; n < burst + 9; n++)
        void retry(() => starts.push(clock.monotonic()), ONCE, { ports, budget: false, gates: [limit] })
      await clock.advance(450)
      await theirs.advance(450)
      assert.deepEqual(
        starts.slice(burst),
        Array.from({ length: burst }, () => 450),
      )
      for (let n = 0; n < 50; n++) {
        await clock.advance(10)
        await theirs.advance(10)
      }
      const later = Array.from({ length: 9 - burst }, (_, n) => 500 + 50 * n)
      assert.deepEqual(starts.slice(2 * burst), later)
    }
  })
})

describe('a rate limit under another policy', () => {
  const rate = (perSecond: number, burst: number) => withRateLimitDefaults({ perSecond, burst, maxQueued: 0 })

  it('shares the bucket of the one before: a rate that is lowered step by step starts no burst again', async () => {
    const { call, limit, starts } = setting({ burst: 10, maxQueued: 0 })
    let present = limit
    for (let perSecond = 10; perSecond >= 6; perSecond--) {
      present = present.under(rate(perSecond, perSecond))
      for (let n = 0; n < 10; n++) await call(undefined, ONCE, { gates: [present] })
    }
    assert.deepEqual([starts.length, limit.policy.perSecond], [10, 6])
  })

  it('fills at the old rate until it begins, and at the new one from then on', async () => {
    const { call, clock, limit, starts } = setting({ maxQueued: 0 })
    await call()
    await clock.advance(50)
    const slower = limit.under(rate(1, 5))
    await clock.advance(499)
    assert.ok((await call(undefined, ONCE, { gates: [slower] })) instanceof RefusedError)
    await clock.advance(1)
    await call(undefined, ONCE, { gates: [slower] })
    assert.deepEqual(starts, [0, 550])
  })

  it('tells those who wait a new instant at once, in their order: sooner when the rate is raised', async () => {
    const { call, clock, limit, starts } = setting({ perSecond: 1, maxWaitMs: 10_000 })
    for (let n = 0; n < 4; n++) void call()
    await clock.advance(500)
    const faster = limit.under(withRateLimitDefaults({ perSecond: 10, burst: 1, maxWaitMs: 10_000 }))
    void call(undefined, ONCE, { gates: [faster] })
    await clock.drain()
    assert.deepEqual(starts, [0, 550, 650, 750, 850])
  })

  it('tells them a later one when it is lowered, and refuses those who would wait too long', async () => {
    const { call, clock, limit, starts } = setting({ perSecond: 10, maxQueued: 5 })
    const ends = Array.from({ length: 5 }, () => call())
    limit.under(withRateLimitDefaults({ perSecond: 2, burst: 1, maxQueued: 1 }))
    await clock.drain()
    const reasons = (await Promise.all(ends)).map(end => historyOf(end)?.reason)
    assert.deepEqual(starts, [0, 500, 1_000])
    assert.deepEqual(reasons.slice(3), ['throttled', 'throttled'], 'two would have waited more than a second')
  })
})
