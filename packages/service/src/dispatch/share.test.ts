import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import type { lane as lanes } from '@secondwind/resilience/rules'
import { RANKS, type QueueKind, type Rank } from '../task/task.ts'
import { portionsOf, prospectOf, type WaitingQueue } from './share.ts'

const NOW = 1_767_225_600_000
const AT = { now: NOW, storeNow: NOW }
const MINUTE = 60_000

function waiting(kind: QueueKind, rank: Rank, dueAgoMs: number, likely = 8): WaitingQueue {
  return { queue: { policyId: 'default', kind, rank }, dueAt: NOW - dueAgoMs, likely }
}

const allow = (total: number, retry = total): lanes.Allowance => ({ total, first: total, retry })

const show = (portions: ReturnType<typeof portionsOf>): string[] =>
  portions.map(({ of, count }) => `${of.queue.rank} ${of.queue.kind} ${count}`)

describe("a lane's slots", () => {
  it('go to urgent tasks first, else to the queue that has been due longest', () => {
    const queues = [waiting('first', 'normal', 5_000), waiting('retry', 'normal', 9_000), waiting('retry', 'urgent', 0)]
    assert.deepEqual(show(portionsOf(queues, allow(20), 20, NOW)), [
      'urgent retry 8',
      'normal retry 8',
      'normal first 4',
    ])
  })

  it('go to high ranks as if they were due ten minutes earlier, and to low ones as if later: nobody starves', () => {
    const order = (...queues: WaitingQueue[]) => show(portionsOf(queues, allow(3), 3, NOW))
    const high = waiting('first', 'high', 1_000, 1)
    const low = waiting('first', 'low', 21 * MINUTE, 1)
    assert.deepEqual(order(waiting('first', 'normal', 9 * MINUTE, 1), high, low), [
      'low first 1',
      'high first 1',
      'normal first 1',
    ])
    assert.deepEqual(order(waiting('first', 'normal', 12 * MINUTE, 1), high), ['normal first 1', 'high first 1'])
  })

  it('are not kept for more than are probably due, and never for what is not', () => {
    assert.equal(prospectOf([waiting('first', 'normal', 0, 3)], allow(50), AT).most, 3)
    assert.deepEqual(prospectOf([waiting('first', 'normal', -700)], allow(50), AT), { most: 0, lookInMs: 700 })
  })
})

describe('a lane that cannot start anything', () => {
  it('is looked at again when its gate opens and its first task is due', () => {
    const hold = { reason: 'breaker-open', until: NOW + 5_000 } as const
    const shut: lanes.Allowance = { total: 0, first: 0, retry: 0, hold }
    assert.deepEqual(prospectOf([waiting('first', 'normal', 100)], shut, AT), { most: 0, lookInMs: 5_000 })
    assert.deepEqual(prospectOf([waiting('first', 'normal', -9_000)], shut, AT), { most: 0, lookInMs: 9_000 })
  })

  it('is not looked at again by itself while only an end can change something', () => {
    const full: lanes.Allowance = { total: 0, first: 0, retry: 0, hold: { reason: 'concurrency' } }
    assert.equal(prospectOf([waiting('first', 'normal', 100)], full, AT).lookInMs, Infinity)
  })

  it('for want of budget still starts what is new', () => {
    const poor: lanes.Allowance = { ...allow(5, 0), retryHold: { reason: 'budget', until: NOW + 1_000 } }
    const queues = [waiting('retry', 'normal', 10 * MINUTE), waiting('first', 'normal', 1)]
    assert.deepEqual(prospectOf(queues, poor, AT), { most: 5, lookInMs: 1_000 })
    assert.deepEqual(show(portionsOf(queues, poor, 5, NOW)), ['normal first 5'])
  })
})

describe('portions, whatever waits', () => {
  it('are never more than is allowed, of either kind, and use what could be used', () => {
    const anyQueue = fc
      .record({
        kind: fc.constantFrom<QueueKind>('first', 'retry'),
        rank: fc.constantFrom(...RANKS),
        ago: fc.integer({ min: -5_000, max: 5_000 }),
        likely: fc.integer({ min: 1, max: 30 }),
      })
      .map(({ kind, rank, ago, likely }) => waiting(kind, rank, ago, likely))
    fc.assert(
      fc.property(fc.array(anyQueue, { maxLength: 8 }), fc.nat(40), fc.nat(40), (queues, total, retry) => {
        const allowed = { ...allow(total, Math.min(total, retry)), hold: { reason: 'concurrency' } as const }
        const { most } = prospectOf(queues, allowed, AT)
        const portions = portionsOf(queues, allowed, most, NOW)
        const sum = (kind?: QueueKind): number =>
          portions.reduce((count, portion) => count + (kind && portion.of.queue.kind !== kind ? 0 : portion.count), 0)
        assert.equal(sum(), most)
        assert.ok(most <= total && sum('retry') <= allowed.retry)
        for (const { of, count } of portions) assert.ok(of.dueAt <= NOW && count <= of.likely)
      }),
    )
  })
})
