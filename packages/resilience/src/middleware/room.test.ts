import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { withLimiterDefaults } from '../limiter/policy.ts'
import { NOT_ARMED } from '../ports/clock.ts'
import { virtualClock } from '../testing/index.ts'
import { Room, type Guest } from './room.ts'

const clock = virtualClock()
const BULKHEAD = { limit: 2, maxQueued: 2, maxWaitMs: 1_000 }

interface Watched extends Guest {
  readonly log: string[]
}

function guest(name: string, log: string[], remainingMs = Infinity): Watched {
  return {
    dueAt: 0,
    slot: NOT_ARMED,
    remainingMs,
    log,
    enter: () => void log.push(`${name} enters`),
    ring: () => void log.push(`${name} has waited enough`),
  }
}

describe('a room', () => {
  it('lets in as many as it holds, has as many wait as it may, and no more', () => {
    const room = new Room(BULKHEAD, undefined, clock, () => 0)
    const log: string[] = []
    const guests = ['a', 'b', 'c', 'd', 'e'].map(name => guest(name, log))
    assert.deepEqual(
      guests.map(each => room.ask(each)),
      [true, true, true, true, false],
    )
    assert.deepEqual([log, room.counts], [['a enters', 'b enters'], { running: 2, queued: 2 }])
    for (const each of guests) room.leave(each, 'none')
  })

  it('lets in who came first when somebody leaves', () => {
    const room = new Room(BULKHEAD, undefined, clock, () => 0)
    const log: string[] = []
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(name => guest(name, log)) as [Watched, Watched, Watched, Watched]
    for (const each of [a, b, c, d]) room.ask(each)
    room.leave(a, 'good')
    room.leave(b, 'good')
    assert.deepEqual(log, ['a enters', 'b enters', 'c enters', 'd enters'])
    for (const each of [c, d]) room.leave(each, 'good')
    assert.deepEqual(room.counts, { running: 0, queued: 0 })
    assert.equal(clock.pending, 0)
  })

  it('has nobody wait longer than maxWaitMs, or than the deadline', async () => {
    const room = new Room({ ...BULKHEAD, limit: 1 }, undefined, clock, () => 0)
    const log: string[] = []
    const [inside, patient, hurried] = [guest('a', log), guest('b', log), guest('c', log, 300)]
    for (const each of [inside, patient, hurried]) room.ask(each)
    await clock.advance(300)
    assert.deepEqual(log, ['a enters', 'c has waited enough'])
    await clock.advance(700)
    assert.deepEqual(log.at(-1), 'b has waited enough')
    for (const each of [hurried, patient, inside]) room.leave(each, 'none')
  })

  it('forgets at once who leaves the queue, and never lets them in', () => {
    const room = new Room({ ...BULKHEAD, limit: 1 }, undefined, clock, () => 0)
    const log: string[] = []
    const [inside, waiting] = [guest('a', log), guest('b', log)]
    for (const each of [inside, waiting]) room.ask(each)
    room.leave(waiting, 'none')
    room.leave(waiting, 'none')
    room.leave(inside, 'good')
    assert.deepEqual([log, room.counts, clock.pending], [['a enters'], { running: 0, queued: 0 }, 0])
  })

  it('with a limiter shrinks when requests miss their deadline, and not when they fail', () => {
    const limiter = withLimiterDefaults({ kind: 'aimd', initialLimit: 10 })
    const room = new Room({ ...BULKHEAD, limit: 100 }, limiter, clock, () => 0)
    const log: string[] = []
    const visit = (lesson: 'dropped' | 'none'): void => {
      const each = guest('x', log)
      room.ask(each)
      room.leave(each, lesson)
    }
    for (let n = 0; n < 5; n++) visit('none')
    assert.equal(room.limit, 10)
    for (let n = 0; n < 5; n++) visit('dropped')
    assert.equal(room.limit, 5)
  })

  it('with a limiter never exceeds the bulkhead', () => {
    const limiter = withLimiterDefaults({ kind: 'aimd', initialLimit: 10 })
    assert.equal(new Room({ ...BULKHEAD, limit: 3 }, limiter, clock, () => 0).limit, 3)
  })
})
