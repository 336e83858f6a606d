import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { laneKind, type lane as lanes } from '@secondwind/resilience/rules'
import { isInScope } from '../task/control.ts'
import type { QueueGate } from '../task/orders.ts'
import { isByHand } from '../task/lane.ts'
import { RANKS, type QueueKind, type Rank } from '../task/task.ts'
import { portionsOf, prospectOf, type Openings, type WaitingQueue } from './share.ts'

const NOW = 1_767_225_600_000
const AT = { now: NOW, storeNow: NOW }
const MINUTE = 60_000

function waiting(kind: QueueKind, rank: Rank, dueAgoMs: number, likely = 8, policyId = 'default'): WaitingQueue {
  return { queue: { policyId, kind, rank }, dueAt: NOW - dueAgoMs, likely }
}

/** Without gates of single queues. */
const open = (allowed: Partial<lanes.Allowance>): Openings => ({
  allowed: { total: 0, first: 0, retry: 0, late: 0, byHand: 0, kindHolds: {}, ...allowed },
  gates: [],
  passes: isByHand,
  takesLast: () => false,
})

const allow = (total: number): Openings => open({ total, first: total, retry: total, late: total })

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

  it('go to replays as if they were due ten minutes later: they yield, and do not starve', () => {
    const order = (...queues: WaitingQueue[]) => show(portionsOf(queues, allow(2), 2, NOW))
    const low = waiting('first', 'low', 12 * MINUTE, 1)
    assert.deepEqual(order(waiting('first', 'normal', 1 * MINUTE, 1), low), ['low first 1', 'normal first 1'])
    assert.deepEqual(order(waiting('first', 'normal', 3 * MINUTE, 1), low), ['normal first 1', 'low first 1'])
  })

  it('are not kept for more than are probably due, and never for what is not', () => {
    assert.equal(prospectOf([waiting('first', 'normal', 0, 3)], allow(50), AT).most, 3)
    assert.deepEqual(prospectOf([waiting('first', 'normal', -700)], allow(50), AT), { most: 0, lookInMs: 700 })
  })
})

describe('a lane that cannot start anything', () => {
  it('is looked at again when its gate opens and its first task is due', () => {
    const hold = { reason: 'breaker-open', until: NOW + 5_000 } as const
    const shut = open({ hold })
    assert.deepEqual(prospectOf([waiting('first', 'normal', 100)], shut, AT), { most: 0, lookInMs: 5_000 })
    assert.deepEqual(prospectOf([waiting('first', 'normal', -9_000)], shut, AT), { most: 0, lookInMs: 9_000 })
  })

  it('is not looked at again by itself while only an end can change something', () => {
    const full = open({ hold: { reason: 'concurrency' } })
    assert.equal(prospectOf([waiting('first', 'normal', 100)], full, AT).lookInMs, Infinity)
  })

  it('for want of budget still starts what is new', () => {
    const poor = open({ total: 5, first: 5, kindHolds: { retry: { reason: 'budget', until: NOW + 1_000 } } })
    const queues = [waiting('retry', 'normal', 10 * MINUTE), waiting('first', 'normal', 1)]
    assert.deepEqual(prospectOf(queues, poor, AT), { most: 5, lookInMs: 1_000 })
    assert.deepEqual(show(portionsOf(queues, poor, 5, NOW)), ['normal first 5'])
  })
})

describe('a lane that is paused', () => {
  const hold = { reason: 'paused' } as const
  const queues = [waiting('first', 'normal', 9_000), waiting('retry', 'urgent', 0)]

  it('starts what is asked for by hand, and nothing else', () => {
    const paused = open({ total: 1, byHand: 1, hold })
    assert.deepEqual(prospectOf(queues, paused, AT), { most: 1, lookInMs: Infinity })
    assert.deepEqual(show(portionsOf(queues, paused, 1, NOW)), ['urgent retry 1'])
  })

  it('by an operator keeps what is asked for by hand, too', () => {
    const openings = { ...open({ total: 1, byHand: 1, hold }), passes: () => false }
    assert.deepEqual(prospectOf(queues, openings, AT), { most: 0, lookInMs: Infinity })
    assert.deepEqual(portionsOf(queues, openings, 1, NOW), [])
  })

  it('is looked at again when what keeps that one too is over', () => {
    const paused = open({ hold, byHandHold: { reason: 'retry-after', until: NOW + 700 } })
    assert.deepEqual(prospectOf(queues, paused, AT), { most: 0, lookInMs: 700 })
  })
})

describe('a kind of attempts whose credit is used up', () => {
  const queues = [waiting('first', 'normal', 9_000), waiting('late', 'normal', 20_000), waiting('late', 'low', 0)]
  const poor = { total: 5, first: 5, kindHolds: { late: { reason: 'credit', until: NOW + 700 } } } as const

  it('is passed over, and looked at again when its next probe may be sent', () => {
    assert.deepEqual(prospectOf(queues, open(poor), AT), { most: 5, lookInMs: 700 })
    assert.deepEqual(show(portionsOf(queues, open(poor), 5, NOW)), ['normal first 5'])
  })

  it('sends what is asked for by hand, one at a time', () => {
    const openings = open({ ...poor, byHand: 1 })
    const byHand = waiting('late', 'urgent', 0)
    assert.deepEqual(show(portionsOf([...queues, byHand], openings, 5, NOW)), ['urgent late 1', 'normal first 4'])
  })

  it('sends a probe from either end: the task that is due longest, or the one that became due last', () => {
    const probing = { ...open({ total: 5, late: 1 }), takesLast: (kind: QueueKind) => kind === 'late' }
    const lates = queues.slice(1)
    assert.deepEqual(show(portionsOf(lates, open({ total: 5, late: 1 }), 5, NOW)), ['normal late 1'])
    assert.deepEqual(
      portionsOf(lates, probing, 5, NOW).map(({ of, end }) => [of.queue.rank, end]),
      [['low', 'back']],
    )
  })
})

function gate(scope: QueueGate['scope'], room: number, until?: number): QueueGate {
  const control = {
    controlId: 'c',
    tenant: 't',
    reason: '',
    createdAt: NOW,
    createdBy: 'local',
    isByOperator: true,
  } as const
  const whole = { ...control, level: 'retries-off', scope: { kind: 'all' } } as const
  return { scope, control: whole, room, reason: 'kill-switch', ...(until !== undefined && { until }) }
}

describe('a gate of some queues', () => {
  it('keeps those of its scope, and the lane is looked at again when it opens', () => {
    const { allowed } = allow(20)
    const openings = { ...open(allowed), gates: [gate({ kind: 'retry' }, 0, NOW + 400)] }
    const queues = [waiting('retry', 'urgent', 0), waiting('first', 'normal', 0)]
    assert.deepEqual(prospectOf(queues, openings, AT), { most: 8, lookInMs: 400 })
    assert.deepEqual(show(portionsOf(queues, openings, 20, NOW)), ['normal first 8'])
  })

  it('that opens by and by has its queues share its room', () => {
    const { allowed } = allow(20)
    const openings = { ...open(allowed), gates: [gate({ policyId: 'default' }, 3)] }
    const queues = [waiting('retry', 'normal', 1), waiting('first', 'normal', 0, 2)]
    assert.equal(prospectOf(queues, openings, AT).most, 3)
    assert.deepEqual(show(portionsOf(queues, openings, 20, NOW)), ['normal retry 3'])
  })
})

describe('portions, whatever waits', () => {
  const anyQueue = fc
    .record({
      kind: fc.constantFrom(...laneKind.START_KINDS),
      rank: fc.constantFrom(...RANKS),
      ago: fc.integer({ min: -5_000, max: 5_000 }),
      likely: fc.integer({ min: 1, max: 30 }),
      policyId: fc.constantFrom('p', 'q'),
    })
    .map(({ kind, rank, ago, likely, policyId }) => waiting(kind, rank, ago, likely, policyId))
  const anyGate = fc
    .record({ scope: fc.constantFrom({}, { kind: 'retry' as const }, { policyId: 'p' }), room: fc.nat(9) })
    .map(({ scope, room }) => gate(scope, room, room === 0 ? NOW + 1 : undefined))

  it('are never more than is allowed, of either kind and behind any gate, and use what could be used', () => {
    fc.assert(
      fc.property(
        fc.array(anyQueue, { maxLength: 8 }),
        fc.nat(40),
        fc.nat(40),
        fc.array(anyGate, { maxLength: 2 }),
        (queues, total, retry, gates) => {
          const some = Math.min(total, retry)
          const allowed = { total, first: total, retry: some, late: some, hold: { reason: 'concurrency' } as const }
          const { most } = prospectOf(queues, { ...open(allowed), gates }, AT)
          const portions = portionsOf(queues, { ...open(allowed), gates }, most, NOW)
          const sum = (scope: QueueGate['scope']): number =>
            portions.reduce((count, { of, count: more }) => count + (isInScope(scope, of.queue) ? more : 0), 0)
          assert.equal(sum({}), most)
          assert.ok(most <= total && sum({ kind: 'retry' }) <= 2 * some)
          for (const kind of laneKind.START_KINDS)
            assert.ok(portions.every(({ of, count }) => of.queue.kind !== kind || count <= allowed[kind]))
          for (const { scope, room } of gates) assert.ok(sum(scope) <= room)
          for (const { of, count } of portions) assert.ok(of.dueAt <= NOW && count <= of.likely)
        },
      ),
    )
  })
})
