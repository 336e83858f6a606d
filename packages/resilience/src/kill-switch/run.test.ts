import assert from 'node:assert/strict'
import { describe, it, onTestFinished } from 'vitest'
import { createBulkhead } from '../bulkhead/run.ts'
import { InvalidPolicyError, RefusedError } from '../errors.ts'
import { endOf, heldWork } from '../held.test-kit.ts'
import { createRateLimit } from '../rate-limit/run.ts'
import { together, type Accompanied, type Gate } from '../retry/companion.ts'
import { historyOf } from '../retry/history.ts'
import type { RetryOptions, Work } from '../retry/options.ts'
import type { RetryPolicyInput } from '../retry/policy.ts'
import { retry } from '../retry/run.ts'
import { reset, STEADY } from '../retry/scripted.test-kit.ts'
import { expectNoLeaks, virtualClock } from '../testing/index.ts'
import { KILL_LEVELS } from './policy.ts'
import { createKillSwitch, killSwitch } from './run.ts'

function setting() {
  const clock = virtualClock()
  const off = createKillSwitch({ clock })
  const call = (work: Work<unknown>, more: RetryOptions = {}, policy: RetryPolicyInput = STEADY): Promise<unknown> =>
    endOf(
      retry(work, policy, { ports: { clock, random: () => 0.5 }, budget: false, gates: [off], name: 'pay', ...more }),
    )
  return { clock, off, call }
}

/** Reason of the end, and attempts made. */
function howEnded(error: unknown): unknown[] {
  const history = historyOf(error)
  return [history?.reason, history?.attempts]
}

describe('fail-fast', () => {
  it('refuses every attempt, with the reason that was given and how long it holds', async () => {
    const { off, call } = setting()
    off.set({ level: 'fail-fast', reason: 'the ledger is being moved', forMs: 5_000 })
    let called = false
    const refused = await call(() => (called = true))
    assert.ok(refused instanceof RefusedError)
    assert.deepEqual([refused.code, refused.retryAfterMs, called], ['killed', 5_000, false])
    assert.match(refused.message, /fail-fast for all operations, for another 5000 ms: the ledger is being moved$/)
  })

  it('names the operations that it was ordered for', async () => {
    const { off, call } = setting()
    off.set({ level: 'fail-fast', name: 'pay', reason: 'broken' })
    assert.match(String(await call(() => 1)), /operations named "pay", until it is cleared: broken/)
    assert.equal(await call(() => 1, { name: 'other' }), 1)
  })

  it('ends operations that wait for their next attempt at once, with their last error', async () => {
    const { clock, off, call } = setting()
    const lost = reset()
    const ended = call(() => Promise.reject(lost))
    await clock.advance(50)
    off.set({ level: 'fail-fast', reason: 'enough' })
    assert.deepEqual([await ended, clock.monotonic(), ...howEnded(lost)], [lost, 50, 'killed', 1])
  })

  it('ends operations in the queue of another gate at once', async () => {
    const { clock, off, call } = setting()
    const bulkhead = createBulkhead({ limit: 1 })
    const rateLimit = createRateLimit({ perSecond: 2, burst: 1 }, { clock })
    void call(heldWork().work, { gates: [bulkhead] })
    const queued = call(() => 1, { gates: [off, bulkhead] })
    await call(() => 1, { gates: [rateLimit] })
    const delayed = call(() => 1, { gates: [off, rateLimit] })
    off.set({ level: 'fail-fast', reason: 'enough' })
    assert.deepEqual(howEnded(await queued), ['killed', 0])
    assert.deepEqual(howEnded(await delayed), ['killed', 0])
    assert.equal(bulkhead.queued, 0)
  })

  it('lets what is calling go on, and takes its answer', async () => {
    const { off, call } = setting()
    const { work, end } = heldWork()
    const [succeeding, failing] = [call(work), call(work)]
    off.set({ level: 'fail-fast', reason: 'enough' })
    await end()
    await end(reset())
    assert.equal(await succeeding, 'done')
    assert.deepEqual(howEnded(await failing), ['killed', 1])
  })
})

describe('retries-off', () => {
  it('lets first attempts begin, and nothing after them', async () => {
    const { clock, off, call } = setting()
    off.set({ level: 'retries-off', reason: 'enough' })
    assert.equal(await call(() => 1), 1)
    assert.deepEqual(howEnded(await call(() => Promise.reject(reset()))), ['killed', 1])
    assert.equal(clock.monotonic(), 0, 'nobody waited in vain')
  })

  it('ends those that wait for a retry, and leaves those in a queue that have made no attempt', async () => {
    const { clock, off, call } = setting()
    const bulkhead = createBulkhead({ limit: 1 })
    const { work, end } = heldWork()
    const retrying = call(() => Promise.reject(reset()))
    void call(work, { gates: [bulkhead] })
    const queued = call(() => 'first', { gates: [off, bulkhead] })
    await clock.advance(50)
    off.set({ level: 'retries-off', reason: 'enough' })
    assert.deepEqual(howEnded(await retrying), ['killed', 1])
    await end()
    assert.equal(await queued, 'first')
  })
})

describe('a kill switch', () => {
  it('at hedges-off only answers whoever asks', async () => {
    const { clock, off, call } = setting()
    off.set({ level: 'hedges-off', reason: 'enough' })
    assert.equal(off.levelOf('pay'), 'hedges-off')
    let calls = 0
    const ended = call(() => (++calls < 3 ? Promise.reject(reset()) : 'third'))
    await clock.drain()
    assert.equal(await ended, 'third')
  })

  it('needs no timer to expire, by wall time', async () => {
    const { clock, off, call } = setting()
    off.set({ level: 'fail-fast', reason: 'an hour', forMs: 3_600_000 })
    assert.equal(clock.pending, 0)
    clock.jumpWall(3_599_999)
    assert.equal(off.levelOf('pay'), 'fail-fast')
    clock.jumpWall(1)
    assert.deepEqual([off.levelOf('pay'), off.list(), await call(() => 1)], [undefined, [], 1])
  })

  it('has one order for each scope: the newest', () => {
    const { off } = setting()
    off.set({ level: 'fail-fast', name: 'pay', reason: 'first' })
    off.set({ level: 'retries-off', name: 'pay', reason: 'second' })
    off.set({ level: 'hedges-off', reason: 'for all' })
    assert.deepEqual(off.list(), [
      { level: 'retries-off', name: 'pay', reason: 'second' },
      { level: 'hedges-off', reason: 'for all' },
    ])
    off.clear({ name: 'pay' })
    assert.equal(off.levelOf('pay'), 'hedges-off')
    off.clear('all')
    assert.deepEqual([off.list(), off.levelOf('pay')], [[], undefined])
  })

  it('knows operations by their key where they have one', () => {
    const { off } = setting()
    off.set({ level: 'fail-fast', key: 'tenant-7', reason: 'abuse' })
    const of = (options: object): Accompanied =>
      ({ name: 'pay', attempts: 0, setup: { options } }) as unknown as Accompanied
    const [operation, other] = [of({ client: 'bank', key: 'tenant-7' }), of({})]
    assert.match(String(off.accompany(operation).enter!(0)), /with the key "tenant-7"/)
    assert.equal(off.accompany(other).enter!(0), undefined)
    assert.equal(off.levelOf('pay', 'tenant-7'), 'fail-fast')
  })

  it('forbids hedges at every level, by the name of the operation, by its client and by its key', () => {
    const { off, clock } = setting()
    const operation = { name: 'pay', attempts: 1, setup: { options: { client: 'bank', key: 'tenant-7' } } }
    const companion = off.accompany(operation as unknown as Accompanied)
    assert.equal(companion.mayHedge!(), true)
    for (const level of KILL_LEVELS)
      for (const scope of [{}, { name: 'pay' }, { name: 'bank' }, { key: 'tenant-7' }]) {
        off.set({ level, ...scope, reason: 'enough', forMs: 10 })
        assert.equal(companion.mayHedge!(), false, JSON.stringify({ level, ...scope }))
        assert.equal(together([{}, companion]).mayHedge!(), false, 'among others, too')
        clock.jumpWall(10)
        assert.equal(companion.mayHedge!(), true, 'expired')
      }
    off.set({ level: 'fail-fast', name: 'other', reason: 'enough' })
    assert.equal(companion.mayHedge!(), true)
  })

  it('refuses an order or a scope that it cannot keep, with every problem, and changes nothing', () => {
    const { off } = setting()
    off.set({ level: 'fail-fast', reason: 'stays' })
    for (const wrong of [
      () => off.set({ level: 'off' as 'fail-fast', reason: '' }),
      () => off.clear({ nmae: 'pay' } as object),
    ])
      assert.throws(wrong, InvalidPolicyError)
    assert.equal(off.list().length, 1)
  })

  it('takes a thousand orders at most, those that have expired not counted', () => {
    const { off, clock } = setting()
    for (let n = 0; n < 1_000; n++) off.set({ level: 'fail-fast', key: `${n}`, reason: 'r', forMs: 10 })
    assert.throws(() => off.set({ level: 'fail-fast', key: 'more', reason: 'r' }), /clear some/)
    clock.jumpWall(10)
    off.set({ level: 'fail-fast', key: 'more', reason: 'r' })
    assert.equal(off.list().length, 1)
  })

  it('forgets every operation that is over, and leaves nothing behind', async () => {
    const { clock, off, call } = setting()
    let told = 0
    const counting: Gate = {
      accompany: operation => off.accompany(Object.assign(operation, { refuse: () => void told++ })),
    }
    await expectNoLeaks(
      async ({ controller }) => {
        const leaving = controller()
        const lost = call(() => Promise.reject(reset()), { gates: [counting], signal: leaving.signal })
        await call(() => 1, { gates: [counting] })
        leaving.abort()
        await lost
      },
      { clock },
    )
    off.set({ level: 'fail-fast', reason: 'enough' })
    assert.equal(told, 0)
  })
})

describe('the kill switch of the process', () => {
  const bare = (work: Work<unknown>, clock = virtualClock()): Promise<unknown> =>
    endOf(retry(work, STEADY, { ports: { clock, random: () => 0.5 }, budget: false }))

  it('reaches every operation from its first order on, and from join on if that is sooner', async () => {
    onTestFinished(() => killSwitch.clear('all'))
    const before = virtualClock()
    const missed = bare(() => Promise.reject(reset()), before)
    await before.advance(50)
    onTestFinished(killSwitch.join())
    const clock = virtualClock()
    const reached = bare(() => Promise.reject(reset()), clock)
    await clock.advance(50)
    killSwitch.set({ level: 'fail-fast', reason: 'enough' })
    assert.deepEqual(howEnded(await reached), ['killed', 1])
    assert.deepEqual(howEnded(await bare(() => 1)), ['killed', 0])
    await before.drain()
    assert.deepEqual(howEnded(await missed), ['attempts', 4])
  })

  it('joins by its first order, and once', async () => {
    killSwitch.set({ level: 'fail-fast', reason: 'enough' })
    const leave = killSwitch.join()
    assert.equal(killSwitch.join(), leave)
    assert.deepEqual(howEnded(await bare(() => 1)), ['killed', 0])
    leave()
    assert.equal(await bare(() => 1), 1)
    killSwitch.set({ level: 'fail-fast', reason: 'again' })
    onTestFinished(killSwitch.join())
    assert.deepEqual(howEnded(await bare(() => 1)), ['killed', 0])
    killSwitch.clear('all')
    assert.equal(await bare(() => 1), 1)
  })
})
