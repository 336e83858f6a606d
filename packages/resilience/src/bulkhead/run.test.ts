import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { InvalidPolicyError, RefusedError } from '../errors.ts'
import { endOf, heldWork } from '../held.test-kit.ts'
import type { Accompanied, Gate } from '../retry/companion.ts'
import { historyOf } from '../retry/history.ts'
import type { RetryOptions } from '../retry/options.ts'
import type { RetryPolicyInput } from '../retry/policy.ts'
import { retry } from '../retry/run.ts'
import { reset, STEADY } from '../retry/scripted.test-kit.ts'
import { expectNoLeaks, virtualClock } from '../testing/index.ts'
import { settled } from '../testing/settle.ts'
import type { BulkheadInput } from './policy.ts'
import { createBulkhead } from './run.ts'

const ONCE: RetryPolicyInput = { ...STEADY, maxAttempts: 1 }

function setting(policy: BulkheadInput = {}, ...others: Gate[]) {
  const clock = virtualClock()
  const bulkhead = createBulkhead({ limit: 1, ...policy }, { name: 'db' })
  const options = { ports: { clock, random: () => 0.5 }, budget: false, gates: [bulkhead, ...others] } as const
  const call = (
    work: Parameters<typeof retry>[0],
    callPolicy: RetryPolicyInput = ONCE,
    more: RetryOptions = {},
  ): Promise<unknown> => endOf(retry(work, callPolicy, { ...options, ...more }))
  const counts = () => ({ active: bulkhead.active, queued: bulkhead.queued, abandoned: bulkhead.abandoned })
  return { clock, bulkhead, call, counts }
}

const IDLE = { active: 0, queued: 0, abandoned: 0 }

describe('a bulkhead', () => {
  it('lets so many run at once, has so many wait, and refuses the rest with its numbers', async () => {
    const { call, counts } = setting({ limit: 2, maxQueued: 1 })
    const { work, begun } = heldWork()
    for (let n = 0; n < 3; n++) void call(work)
    const refused = await call(work)
    assert.ok(refused instanceof RefusedError)
    assert.deepEqual([refused.code, historyOf(refused)?.reason, begun()], ['throttled', 'throttled', 2])
    assert.match(refused.message, /^the bulkhead "db" is full and so is its queue: 2 of 2 .* 1 of 1 wait.*raise limit/)
    assert.deepEqual(counts(), { active: 2, queued: 1, abandoned: 0 })
  })

  it('gives each slot that becomes free to whoever waits longest', async () => {
    const { call } = setting({ maxQueued: 3 })
    const { work, end } = heldWork()
    const order: number[] = []
    for (let n = 0; n < 4; n++) void call(attempt => (order.push(n), work(attempt)))
    for (let n = 0; n < 4; n++) await end()
    assert.deepEqual(order, [0, 1, 2, 3])
  })

  it('lets no newcomer overtake the queue, not even one that comes in the moment a slot becomes free', async () => {
    const { call } = setting({ maxQueued: 5 })
    const order: string[] = []
    const { work, end } = heldWork()
    const first = call(work).then(() => call(() => order.push('newcomer')))
    void call(() => order.push('queued'))
    void call(() => order.push('queued too'))
    await end()
    await first
    assert.deepEqual(order, ['queued', 'queued too', 'newcomer'])
  })

  it('refuses whoever has waited maxWaitMs, and says so', async () => {
    const { call, clock, counts } = setting({ maxWaitMs: 300 })
    void call(heldWork().work)
    const waiting = call(() => 1)
    await clock.advance(299)
    assert.equal(counts().queued, 1)
    await clock.advance(1)
    const refused = await waiting
    assert.ok(refused instanceof RefusedError)
    assert.match(refused.message, /stayed so for 300 ms/)
    assert.deepEqual(counts(), { active: 1, queued: 0, abandoned: 0 })
  })

  it('lets an operation leave the queue at its deadline, with the reason of the deadline', async () => {
    const { call, clock, counts } = setting()
    void call(heldWork().work)
    const waiting = call(() => 1, { ...ONCE, totalBudgetMs: 200, attemptTimeoutMs: 100 })
    await clock.advance(200)
    assert.equal(historyOf(await waiting)?.reason, 'deadline')
    assert.equal(counts().queued, 0)
  })

  it('lets an aborted operation leave the queue at once, from its middle too', async () => {
    const { call, counts } = setting({ maxQueued: 3 })
    const order: string[] = []
    const { work, end } = heldWork()
    void call(work)
    const controller = new AbortController()
    void call(() => order.push('before'))
    const aborted = call(() => order.push('aborted'), ONCE, { signal: controller.signal })
    void call(() => order.push('after'))
    controller.abort('enough')
    assert.equal(counts().queued, 2)
    assert.equal(await aborted, 'enough')
    await end()
    assert.deepEqual([order, counts()], [['before', 'after'], IDLE])
  })

  it('takes a slot for no attempt that the next gate refuses', async () => {
    const shut: Gate = { accompany: () => ({ enter: () => new RefusedError('throttled', 'shut') }) }
    const { call, counts } = setting({}, shut)
    await call(() => 1)
    assert.deepEqual(counts(), IDLE)
  })

  it('asks for one slot only, though a later gate has the operation ask twice', async () => {
    const asked: number[] = []
    const slow: Gate = { accompany: () => ({ enter: now => (asked.push(now) === 1 ? now + 50 : undefined) }) }
    const { call, clock, counts } = setting({ limit: 5 }, slow)
    const { work, end } = heldWork()
    void call(work)
    await clock.advance(50)
    assert.deepEqual([asked, counts().active], [[0, 50], 1])
    await end()
    assert.deepEqual(counts(), IDLE)
  })

  it('tells the other gates of the work that has ended before it lets the next one ask them', async () => {
    let underWay = 0
    const oneAtATime: Gate = {
      accompany: () => ({
        enter: () => (underWay > 0 ? new RefusedError('throttled', 'somebody is there') : undefined),
        started: () => void underWay++,
        workEnded: () => void underWay--,
      }),
    }
    const { call } = setting({}, oneAtATime)
    const { work, end } = heldWork()
    void call(work)
    const next = call(() => 'let in')
    await end()
    assert.equal(await next, 'let in')
  })

  it('does not hurry an operation that had begun, and failed, before it was told of its slot', async () => {
    let waiting: Accompanied | undefined
    const impatient: Gate = {
      accompany: operation => {
        waiting = operation
        return { workEnded: () => void (operation !== waiting && waiting!.askAgain()) }
      },
    }
    const { call, clock } = setting({}, impatient)
    const { work, end } = heldWork()
    void call(work)
    const starts: number[] = []
    void call(() => {
      starts.push(clock.monotonic())
      throw reset()
    }, STEADY)
    await end()
    assert.deepEqual(starts, [0])
    await clock.advance(100)
    assert.deepEqual(starts, [0, 100])
  })

  it('serves a long queue of work that ends at once', async () => {
    const { call, counts } = setting({ maxQueued: 20_000 })
    const { work, end } = heldWork()
    void call(work)
    const queue = Array.from({ length: 20_000 }, () => call(() => 'quick'))
    await end()
    assert.ok((await Promise.all(queue)).every(value => value === 'quick'))
    assert.deepEqual(counts(), IDLE)
  })

  it('refuses a document that it cannot keep, with every problem', () => {
    assert.throws(
      () => createBulkhead({ limit: 0, maxQueued: -1 }),
      (error: unknown) => error instanceof InvalidPolicyError && error.problems.length === 2,
    )
  })
})

describe('a slot', () => {
  it('is free while an operation waits for its next attempt', async () => {
    const { call, clock, counts } = setting()
    const { work, end } = heldWork()
    const failing = call(work, { ...STEADY, maxAttempts: 2 })
    await end(reset())
    assert.deepEqual(counts(), IDLE)
    assert.equal(await call(() => 'meanwhile'), 'meanwhile')
    await clock.advance(100)
    assert.equal(counts().active, 1)
    await end()
    assert.equal(await failing, 'done')
  })

  it('has to be queued for again by every attempt', async () => {
    const { call, clock, counts } = setting()
    const { work, end, begun } = heldWork()
    const failing = call(work, STEADY)
    await end(reset())
    void call(work)
    await clock.advance(100)
    assert.deepEqual([counts().queued, begun()], [1, 2])
    await end()
    assert.deepEqual([counts(), begun()], [{ active: 1, queued: 0, abandoned: 0 }, 3])
    await end()
    assert.equal(await failing, 'done')
  })

  it('is held by work that was given up until it has really ended', async () => {
    const { call, clock, counts } = setting()
    const { work, end } = heldWork()
    const given = call(work, { ...ONCE, attemptTimeoutMs: 50 })
    await clock.advance(50)
    assert.equal(historyOf(await given)?.reason, 'attempts')
    assert.deepEqual(counts(), { active: 1, queued: 0, abandoned: 1 })
    const waiting = call(() => 'in')
    await clock.advance(900)
    assert.equal(counts().queued, 1)
    await end()
    assert.equal(await waiting, 'in')
    assert.deepEqual(counts(), IDLE)
  })

  it('is one of two while an operation tries again beside work of its own that goes on', async () => {
    const { call, clock, counts } = setting({ limit: 2 })
    const { work, end } = heldWork()
    const trying = call(work, { ...STEADY, attemptTimeoutMs: 50 })
    await clock.advance(150)
    assert.deepEqual(counts(), { active: 2, queued: 0, abandoned: 1 })
    await end()
    assert.deepEqual(counts(), { active: 1, queued: 0, abandoned: 0 })
    await end()
    assert.equal(await trying, 'done')
    assert.deepEqual(counts(), IDLE)
  })

  it('is held by work that goes on after an abort', async () => {
    const { call, counts } = setting()
    const { work, end } = heldWork()
    const controller = new AbortController()
    const aborted = call(work, ONCE, { signal: controller.signal })
    controller.abort('enough')
    assert.equal(await aborted, 'enough')
    assert.deepEqual(counts(), { active: 1, queued: 0, abandoned: 1 })
    const waiting = call(() => 'in')
    await end()
    assert.equal(await waiting, 'in')
    assert.deepEqual(counts(), IDLE)
  })

  it('is named in a refusal when it is held by work that was given up', async () => {
    const { call, clock } = setting({ maxQueued: 0 })
    void call(heldWork().work, { ...ONCE, attemptTimeoutMs: 50 })
    await clock.advance(50)
    assert.match(String(await call(() => 1)), /1 of 1 calls are under way \(1 of them given up, and not ended/)
  })

  it('comes back from a callback that throws', async () => {
    const { call, counts } = setting()
    const classifyResult = (): never => {
      throw new Error('mine')
    }
    assert.match(String(await call(() => Promise.resolve(1), ONCE, { classifyResult })), /mine/)
    const attemptTimeoutMs = classifyResult
    assert.match(String(await call(() => 1, ONCE, { attemptTimeoutMs })), /mine/)
    assert.deepEqual(counts(), IDLE)
  })

  it('leaves nothing behind, however an operation ends', async () => {
    const { call, clock, counts } = setting({ maxQueued: 2, maxWaitMs: 100 })
    await expectNoLeaks(
      async ({ controller }) => {
        const { work, end } = heldWork()
        const leaving = controller()
        const all = [
          call(work, ONCE, { signal: controller().signal }),
          call(() => 1, ONCE, { signal: leaving.signal }),
          call(() => 1),
          call(() => 1),
        ]
        leaving.abort()
        await clock.advance(100)
        await end()
        await Promise.all(all)
      },
      { clock },
    )
    assert.deepEqual(counts(), IDLE)
  })
})

describe('a bulkhead under another policy', () => {
  const numbers = (limit: number) => ({ limit, maxQueued: 10, maxWaitMs: 1_000 })

  it('counts together with the one before: a limit that is lowered step by step never adds up', async () => {
    const { bulkhead, call, counts } = setting(numbers(5))
    const { work, begun, end } = heldWork()
    let present = bulkhead
    for (let limit = 5; limit >= 1; limit--) {
      present = present.under(numbers(limit))
      for (let n = 0; n < 3; n++) void call(work, ONCE, { gates: [present] })
    }
    assert.deepEqual([begun(), counts(), present.active], [4, { active: 4, queued: 10, abandoned: 0 }, 4])
    for (let n = 0; n < 3; n++) await end()
    assert.deepEqual([begun(), present.active, present.queued], [4, 1, 10])
    await end()
    assert.deepEqual([begun(), present.active, present.queued], [5, 1, 9])
  })

  it('lets those who wait in at once when its limit is raised, in their order and before any newcomer', async () => {
    const { bulkhead, call } = setting(numbers(1))
    const { work } = heldWork()
    const order: string[] = []
    const named = (name: string, gate = bulkhead): void =>
      void call(attempt => (order.push(name), work(attempt)), ONCE, { gates: [gate] })
    for (const name of ['inside', 'first', 'second', 'third']) named(name)
    const raised = bulkhead.under(numbers(3))
    named('newcomer', raised)
    await settled()
    assert.deepEqual([order, raised.active, raised.queued], [['inside', 'first', 'second'], 3, 2])
  })

  it('holds for operations that began under the one before, at their next attempt', async () => {
    const { bulkhead, call, clock } = setting(numbers(2))
    const { work, end, begun } = heldWork()
    for (let n = 0; n < 2; n++) void call(work, STEADY)
    await end(reset())
    await end(reset())
    const lowered = bulkhead.under(numbers(1))
    await clock.advance(100)
    assert.deepEqual([begun(), lowered.active, lowered.queued, bulkhead.policy.limit], [3, 1, 1, 1])
  })

  it('refuses whoever waits since before it after the wait that held then, and says so', async () => {
    const { bulkhead, call, clock } = setting({ limit: 1, maxWaitMs: 300 })
    void call(heldWork().work)
    const waiting = call(() => 1)
    bulkhead.under(numbers(1))
    await clock.advance(300)
    assert.match(String(await waiting), /stayed so for 300 ms/)
  })
})
