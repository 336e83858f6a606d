import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
// #region import
import { createBulkhead, createRateLimit, retry } from '@secondwind/resilience'
// #endregion
import {
  createKillSwitch,
  createLimiter,
  createThrottle,
  historyOf,
  killSwitch,
  RefusedError,
} from '@secondwind/resilience'
import { instantTime } from './instant-time.ts'

instantTime()

const down = async (): Promise<never> => {
  throw Object.assign(new Error('down'), { status: 503 })
}

async function reasonOf(operation: Promise<unknown>): Promise<string | undefined> {
  const error = await operation.catch((error: unknown) => error)
  return historyOf(error)?.reason
}

/** A dependency that answers when it is told to. */
function slowDependency() {
  const answers: (() => void)[] = []
  const call = (): Promise<void> => new Promise(resolve => answers.push(resolve))
  return { call, answer: () => answers.forEach(answer => answer()) }
}

describe('gates', () => {
  it('are created once for a dependency, and asked before every attempt', async () => {
    const report = async (): Promise<string> => 'a report'
    // #region create
    const bulkhead = createBulkhead({ limit: 10 }, { name: 'reports' })
    const rateLimit = createRateLimit({ perSecond: 50 }, { name: 'reports' })

    const readReport = () => retry(report, {}, { gates: [bulkhead, rateLimit] })
    // #endregion
    assert.equal(await readReport(), 'a report')
  })
})

describe('a bulkhead', () => {
  it('refuses at once when its queue is full, and can be read', async () => {
    const { call, answer } = slowDependency()
    // #region bulkhead
    const bulkhead = createBulkhead({ limit: 2, maxQueued: 1 }, { name: 'reports' })
    const read = () => retry(call, {}, { gates: [bulkhead] })

    const running = [read(), read(), read()] // two are under way, one waits
    const refused = await read().catch((error: unknown) => error)
    assert.ok(refused instanceof RefusedError) // nothing was sent
    assert.equal(refused.code, 'throttled')
    assert.deepEqual([bulkhead.active, bulkhead.queued, bulkhead.abandoned], [2, 1, 0])
    // #endregion
    answer()
    await Promise.all(running.slice(0, 2))
    answer()
    await Promise.all(running)
    assert.equal(bulkhead.active, 0)
  })
})

describe('a rate limit', () => {
  it('lets a burst through, and spreads what follows', async () => {
    const begun: number[] = []
    const send = async (): Promise<number> => begun.push(performance.now())
    // #region rate
    const rateLimit = createRateLimit({ perSecond: 10, burst: 2 })
    const mails = Array.from({ length: 5 }, () => retry(send, {}, { gates: [rateLimit] }))
    // #endregion
    await Promise.all(mails)
    const waits = begun.map(at => Math.floor(at - begun[0]!))
    assert.ok(waits[1]! < 10 && waits[2]! >= 99 && waits[4]! >= 299, String(waits))
  })
})

describe('an adaptive limit', () => {
  it('shrinks when answers are slow, and stays where it is while they are not', async () => {
    const search = () => down().catch(() => 'results')
    // #region limiter
    const limiter = createLimiter({ kind: 'gradient2', slowCallMs: 400 }, { name: 'search' })

    const results = await retry(search, {}, { gates: [limiter] })
    assert.equal(limiter.limit, 20) // where it begins: one call is no reason to change it
    // #endregion
    assert.equal(results, 'results')
    const timedOut = Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })
    await reasonOf(retry(() => Promise.reject(timedOut), { maxAttempts: 1 }, { gates: [limiter] }))
    assert.equal(limiter.limit, 18)
  })
})

describe('a throttle', () => {
  it('keeps calls back while they are refused', async () => {
    const findPlace = down
    // #region throttle
    const throttle = createThrottle({}, { name: 'maps' })

    for (let n = 0; n < 100; n++) await retry(findPlace, {}, { gates: [throttle] }).catch(() => 'not found')
    assert.equal(throttle.presentChance, 0.9) // the dependency is down: one call in ten is still sent
    // #endregion
    const later = await Promise.all(
      Array.from({ length: 900 }, () => reasonOf(retry(down, { maxAttempts: 1 }, { gates: [throttle] }))),
    )
    const sent = later.filter(reason => reason !== 'throttled').length
    assert.ok(sent > 30 && sent < 180, `${sent}`)
  })
})

describe('the kill switch', () => {
  it('ends what waits, at once', async () => {
    // #region kill
    killSwitch.join() // when the program starts

    const waiting = retry(down, {}, { name: 'payments' })
    await Promise.resolve() // its first attempt fails; now it waits for the second

    killSwitch.set({ level: 'retries-off', name: 'payments', reason: 'the ledger is being moved', forMs: 600_000 })
    assert.equal(await reasonOf(waiting), 'killed')

    killSwitch.clear({ name: 'payments' })
    // #endregion
    assert.deepEqual(killSwitch.list(), [])
  })

  it('can be one of your own', async () => {
    const remoteOrders = async () => [{ level: 'fail-fast' as const, reason: 'ordered from afar', forMs: 60_000 }]
    // #region own
    const follower = createKillSwitch()
    const leave = follower.join()
    for (const order of await remoteOrders()) follower.set(order) // again every minute: what is not repeated expires
    // #endregion
    assert.equal(await reasonOf(retry(down)), 'killed')
    leave()
    assert.equal(await reasonOf(retry(down, { maxAttempts: 1 })), 'attempts')
  })
})
