import assert from 'node:assert/strict'
import fc from 'fast-check'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import { newTask, type TaskChanges } from '../stores/exam/tasks.test-kit.ts'
import { openMemoryStore } from '../stores/sqlite/sqlite-store.ts'
import type { WaitingTasks } from '../stores/store.ts'
import type { BacklogLimits, FullScope } from '../task/backlog.ts'
import { laneKey } from '../task/lane.ts'
import { Backlog } from './backlog.ts'

const OTHER = 'https://other.example'
const TOLD = 'https://told.example'
const callbackUrl = `${TOLD}/ends`
const NO_LIMITS = { perLane: Infinity, total: Infinity }

/** A backlog and the store whose beats it hears. */
function setting(limits: BacklogLimits, isServed?: (lane: string) => boolean) {
  const clock = virtualClock()
  const store = openMemoryStore({ clock })
  const backlog = new Backlog(limits, isServed)
  let number = 0
  /** The id of the task, or what it found no room in. */
  const bring = async (changes: TaskChanges = {}): Promise<string> => {
    const task = newTask(++number, clock.now(), changes)
    const scope = backlog.verdict(task)
    if (scope !== undefined) return scope
    backlog.taken(task)
    await store.enqueue([task])
    return task.taskId
  }
  const bringMany = async (count: number, changes: TaskChanges = {}): Promise<string[]> => {
    const ends: string[] = []
    for (let n = 0; n < count; n++) ends.push(await bring(changes))
    return ends
  }
  const beat = async (): Promise<void> =>
    backlog.heard((await store.beat({ instance: 'one', largeFrom: backlog.largeFrom })).waiting)
  /** After two beats nothing counts but what the store has. */
  const settle = async (): Promise<void> => {
    await beat()
    await beat()
  }
  return { clock, store, backlog, bring, bringMany, beat, settle }
}

function isScope(end: string): end is FullScope {
  return ['lane', 'share', 'total', 'lanes', 'callback'].includes(end)
}

describe('a backlog', () => {
  it('takes so many waiting tasks of a lane and no more, and those of others beside them', async () => {
    const { bring, bringMany, settle } = setting({ perLane: 2, total: 100 })
    const ends = await bringMany(3)
    assert.deepEqual(ends.map(isScope), [false, false, true])
    await settle()
    assert.equal(await bring(), 'lane')
    assert.ok(!isScope(await bring({ destination: OTHER })))
  })

  it('says that the lane is full where both are', async () => {
    const { bring } = setting({ perLane: 1, total: 1 })
    await bring()
    assert.equal(await bring(), 'lane')
  })

  it('keeps some of the total for other tenants, however many lanes one has, and some of that for its other lanes', async () => {
    const { bring, bringMany, settle } = setting({ perLane: 100, total: 20 })
    const words = (ends: string[]): string[] => ends.map(end => (isScope(end) ? end : 'taken'))
    assert.deepEqual(words(await bringMany(18)), [...Array<string>(17).fill('taken'), 'share'])
    await settle()
    assert.equal(await bring(), 'share')
    assert.deepEqual(words(await bringMany(2, { destination: OTHER })), ['taken', 'share'])
    await settle()
    assert.equal(await bring(), 'share')
    assert.deepEqual(words(await bringMany(3, { tenant: 'other' })), ['taken', 'taken', 'total'])
  })

  it('counts tasks that wait, not those that ended, from the second beat after they did', async () => {
    const { store, bring, beat } = setting({ perLane: 1, total: 10 })
    const taskId = await bring()
    await store.cancel(taskId)
    assert.equal(await bring(), 'lane')
    await beat()
    assert.equal(await bring(), 'lane', 'that beat may have been counted before the task was written')
    await beat()
    assert.ok(!isScope(await bring()))
  })

  it('takes no tenant for another whose name begins like its own', async () => {
    const { bring, bringMany, settle } = setting({ perLane: 100, total: 19 })
    for (const tenant of ['acm', 'acme0', 'acme-1']) await bringMany(6, { tenant })
    assert.ok(!isScope(await bring({ tenant: 'acme' })))
    await settle()
    assert.equal(await bring({ tenant: 'acme' }), 'total')
  })

  it('takes in nothing more whose end is to be told in a lane that is half full', async () => {
    const { bring, bringMany, settle } = setting({ perLane: 10, total: 100 })
    await bringMany(4, { destination: TOLD })
    assert.ok(!isScope(await bring({ callbackUrl })))
    await bring({ destination: TOLD })
    assert.equal(await bring({ callbackUrl }), 'callback')
    assert.ok(!isScope(await bring({ callbackUrl, tenant: 'other' })))
    await settle()
    assert.equal(await bring({ callbackUrl }), 'callback')
    assert.ok(!isScope(await bring()))
  })

  it('counts all tasks by their status', async () => {
    const { store, backlog, bringMany, beat } = setting(NO_LIMITS)
    assert.equal(backlog.tasks.PENDING, 0)
    const [first = ''] = await bringMany(3)
    await store.cancel(first)
    await beat()
    assert.deepEqual(backlog.tasks, { PENDING: 2, IN_FLIGHT: 0, SUCCEEDED: 0, EXHAUSTED: 0, CANCELLED: 1 })
  })
})

describe('open lanes', () => {
  it('are so many and no more; a lane that is open takes more', async () => {
    const { bring } = setting({ ...NO_LIMITS, lanes: 2 })
    const ends = []
    for (const n of [1, 2, 3, 1, 2]) ends.push(await bring({ destination: `https://${n}.example` }))
    assert.deepEqual(ends.map(isScope), [false, false, true, false, false])
    assert.equal(ends[2], 'lanes')
  })

  it('are kept for other tenants, too', async () => {
    const { bring, settle } = setting({ ...NO_LIMITS, lanes: 20 })
    const bringAll = async (tenant: string, from: number, count: number): Promise<number> => {
      let taken = 0
      for (let n = from; n < from + count; n++)
        if (!isScope(await bring({ tenant, destination: `https://${n}.example` }))) taken++
      return taken
    }
    assert.equal(await bringAll('acme', 0, 20), 18)
    await settle()
    assert.equal(await bringAll('acme', 20, 3), 0)
    assert.equal(await bringAll('other', 0, 3), 2)
  })

  it('take more tasks while this instance serves them, though no other lane may be opened', async () => {
    const served = new Set([laneKey({ tenant: 'acme', destination: OTHER })])
    const { bring, settle } = setting({ ...NO_LIMITS, lanes: 1 }, lane => served.has(lane))
    await bring({ destination: OTHER })
    await settle()
    assert.equal(await bring(), 'lanes')
    assert.ok(!isScope(await bring({ destination: OTHER })))
  })

  it('count until their last task has ended, for tasks and for ends that are to be told', async () => {
    const { store, bring, settle } = setting({ ...NO_LIMITS, lanes: 1 })
    const taskId = await bring()
    assert.equal(await bring({ callbackUrl }), 'callback')
    await settle()
    assert.equal(await bring({ destination: OTHER }), 'lanes')
    await store.cancel(taskId)
    await settle()
    assert.ok(!isScope(await bring({ destination: OTHER })))
  })
})

describe('a beat', () => {
  const NO_TASKS = { PENDING: 0, IN_FLIGHT: 0, SUCCEEDED: 0, EXHAUSTED: 0, CANCELLED: 0 }
  const waitingOf = (PENDING: number, tenants: { readonly [tenant: string]: number }): WaitingTasks => ({
    tasks: { ...NO_TASKS, PENDING },
    openLanes: 0,
    tenants: Object.entries(tenants).map(([tenant, pending]) => ({ tenant, pending, openLanes: 0 })),
    lanes: [],
  })
  const task = (tenant: string) => ({ tenant, destination: 'https://api.example' })

  it('names few: a hundredth of what a lane may have, a thousandth of what all share, and never less than one', () => {
    const largeFrom = (limits: BacklogLimits) => new Backlog(limits).largeFrom
    assert.deepEqual(largeFrom({ perLane: 2_000_000, total: 10_000_000, lanes: 100_000 }), {
      tasks: 10_000,
      lanes: 100,
    })
    assert.deepEqual(largeFrom({ perLane: 1_000, total: 10_000_000 }).tasks, 10)
    assert.deepEqual(largeFrom({ perLane: 1, total: 1, lanes: 1 }), { tasks: 1, lanes: 1 })
  })

  it('leaves a tenant out that may have much all the same: it counts as having that', () => {
    const backlog = new Backlog({ perLane: 2_000_000, total: 10_000_000 })
    backlog.heard(waitingOf(9_999_000, { busy: 9_000_000 }))
    assert.equal(backlog.verdict(task('unnamed')), 'share')
  })

  it('shows that a newcomer has little where three others have nearly all', () => {
    const backlog = new Backlog({ perLane: 2_000_000, total: 10_000_000 })
    backlog.heard(waitingOf(9_990_000, { a: 9_000_000, b: 900_000, c: 90_000 }))
    assert.equal(backlog.verdict(task('newcomer')), undefined)
    for (const tenant of ['a', 'b', 'c']) assert.equal(backlog.verdict(task(tenant)), 'share', tenant)
  })
})

/** Lanes of two tenants, and calls that the store applies late. */
class SlowStore {
  readonly written = new Map<string, number>()
  /** Tasks that were taken, and whether that was before the latest beat was heard. */
  calls: { readonly lane: string; isOld: boolean }[] = []

  apply(isApplied: (call: { readonly isOld: boolean }) => boolean): void {
    for (const { lane } of this.calls.filter(isApplied)) this.written.set(lane, (this.written.get(lane) ?? 0) + 1)
    this.calls = this.calls.filter(call => !isApplied(call))
  }

  waiting({ tasks, lanes }: Backlog['largeFrom']): WaitingTasks {
    const open = [...this.written].filter(([, pending]) => pending > 0)
    const PENDING = open.reduce((sum, [, pending]) => sum + pending, 0)
    const tenants = ['a', 'b'].map(tenant => {
      const own = open.filter(([lane]) => lane.startsWith(`${tenant} `))
      return { tenant, pending: own.reduce((sum, [, pending]) => sum + pending, 0), openLanes: own.length }
    })
    return {
      tasks: { PENDING, IN_FLIGHT: 0, SUCCEEDED: 0, EXHAUSTED: 0, CANCELLED: 0 },
      openLanes: open.length,
      tenants: tenants.filter(of => of.pending >= tasks || of.openLanes >= lanes),
      lanes: open.filter(([, pending]) => pending >= tasks).map(([lane, pending]) => ({ lane, pending })),
    }
  }
}

const STEP = fc.record({
  kind: fc.constantFrom('bring', 'bring', 'bring', 'end', 'write', 'ask', 'hear', 'hear'),
  lane: fc.nat(5),
  times: fc.oneof(fc.nat(3), fc.nat(600)),
})

describe('an instance that is alone', () => {
  it('takes in nothing beyond a limit, however late its store writes and answers', () => {
    const limitsOf = fc.record({
      perLane: fc.oneof(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 200, max: 500 })),
      total: fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 4_000, max: 6_000 })),
      lanes: fc.integer({ min: 1, max: 5 }),
    })
    fc.assert(
      fc.property(limitsOf, fc.array(STEP, { maxLength: 100, size: 'max' }), (limits, steps) => {
        const [backlog, store] = [new Backlog(limits), new SlowStore()]
        let answer: WaitingTasks | undefined
        for (const { kind, lane: number, times } of steps) {
          const [tenant, destination] = [number < 3 ? 'a' : 'b', `https://${number}.example`]
          const lane = laneKey({ tenant, destination })
          if (kind === 'bring')
            for (let n = 0; n < times; n++) {
              if (backlog.verdict({ tenant, destination }) !== undefined) break
              backlog.taken({ tenant, destination })
              store.calls.push({ lane, isOld: false })
            }
          else if (kind === 'end') store.written.set(lane, Math.max(0, (store.written.get(lane) ?? 0) - times))
          else if (kind === 'write') store.apply(() => true)
          else if (kind === 'ask' && answer === undefined) {
            // A call that was under way before the latest beat was heard is written before the next one is counted.
            store.apply(({ isOld }) => isOld)
            answer = store.waiting(backlog.largeFrom)
          } else if (kind === 'hear' && answer !== undefined) {
            backlog.heard(answer)
            answer = undefined
            for (const call of store.calls) call.isOld = true
          }
          const open = new Map(store.written)
          for (const call of store.calls) open.set(call.lane, (open.get(call.lane) ?? 0) + 1)
          const counts = [...open.values()].filter(count => count > 0)
          assert.ok(counts.length <= limits.lanes, `${counts.length} lanes`)
          assert.ok(Math.max(0, ...counts) <= limits.perLane, 'a lane')
          assert.ok(counts.reduce((sum, count) => sum + count, 0) <= limits.total, 'all')
        }
      }),
      { numRuns: 1_000 },
    )
  })
})
