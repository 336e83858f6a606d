/** A task whose deadline came behind a gate says which gate held it, and since when; one that no gate held says nothing. */
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { laneKey } from '../task/lane.ts'
import type { GateReason } from '../task/lane-view.ts'
import type { Task } from '../task/task.ts'
import type { Behaviour } from './simulation/scripted-target.test-kit.ts'
import { World, type Order, type WorldOptions } from './simulation/world.test-kit.ts'

const LANE = laneKey({ tenant: 'acme', destination: 'https://api.example' })
const GOOD: Behaviour = { kind: 'answers', status: 200, ms: 50 }
const DOWN: Behaviour = { kind: 'answers', status: 503, ms: 50 }
const SETTLED_MS = 20_000
const BY_HAND = { by: 'operator', reason: 'a test' } as const

/** One instance that has settled in. */
async function setting(options: WorldOptions = {}) {
  const policy = { jitterType: 'NONE', initialDelayMs: 1_000, totalBudgetMs: 600_000, maxAttempts: 9 } as const
  const world = new World({ ...options, policy: { ...policy, ...options.policy } })
  const { dispatcher } = world.start()
  await world.clock.advance(SETTLED_MS)
  const startedAt = world.clock.now()
  return {
    world,
    dispatcher,
    startedAt,
    /** What became of a task that begins now. */
    endOf: async (order: Order, mostMs = 300_000): Promise<Task> => {
      const { taskId } = await world.enqueue(order)
      await world.finish(mostMs)
      return world.read(taskId)
    },
  }
}

function heldBy({ state }: Task): GateReason | undefined {
  assert.ok(state.status === 'EXHAUSTED' && state.reason === 'deadline', JSON.stringify(state))
  return state.held?.by
}

function isUntried({ progress }: Task): boolean {
  return progress.attemptNumber === 0
}

function heldSince({ state }: Task): number | undefined {
  return state.status === 'EXHAUSTED' ? state.held?.since : undefined
}

describe('a task whose deadline comes', () => {
  it('while its destination is down says which gate held it, since it was due, after the attempts made', async () => {
    const { world, startedAt } = await setting({ behaviourOf: () => DOWN, policy: { maxAttempts: 50 } })
    await world.enqueueMany(200, { deadlineAt: startedAt + 60_000 })
    await world.finish(300_000)
    const all = await Promise.all(world.accepted.map(({ taskId }) => world.read(taskId)))
    const held = all.filter(task => heldBy(task) !== undefined)
    assert.deepEqual(new Set(held.map(heldBy)), new Set(['breaker-open']))
    const [untried, tried] = [held.filter(isUntried), held.filter(task => !isUntried(task))]
    assert.ok(untried.length > 100 && tried.length > 0, `${untried.length} untried, ${tried.length} tried`)
    for (const task of untried) assert.equal(heldSince(task), startedAt)
    for (const task of tried) assert.ok(heldSince(task)! > startedAt && heldSince(task)! < startedAt + 60_000)
  })

  it('and that is claimed only after the gate has opened, and others have shut, says which gate it was', async () => {
    const backAt = SETTLED_MS + 30_000
    const { world, startedAt } = await setting({ behaviourOf: (_, at) => (at < backAt ? DOWN : GOOD) })
    await world.enqueueMany(200)
    await world.enqueueMany(100, { deadlineAt: startedAt + 15_000 })
    await world.finish(300_000)
    const short = await Promise.all(world.accepted.slice(200).map(({ taskId }) => world.read(taskId)))
    const held = short.filter(isUntried)
    assert.ok(held.length > 50, `${held.length} were never tried`)
    assert.deepEqual(new Set(held.map(heldBy)), new Set(['breaker-open']))
    assert.equal(await world.count('succeeded'), 200)
  })

  it('before it is known that its destination is down says that credit held it', async () => {
    const credit = { most: { first: 1 }, probeMinMs: 60_000, probeMaxMs: 60_000 }
    const { world, endOf } = await setting({ lanes: { credit }, behaviourOf: () => DOWN })
    await world.enqueue()
    await world.clock.advance(1_000)
    assert.equal(heldBy(await endOf({ deadlineAt: world.clock.now() + 5_000 }, 700_000)), 'credit')
  })

  it('behind a pause says so, though it is looked for only a minute later', async () => {
    const { world, startedAt, endOf } = await setting()
    await world.order('destination', LANE, { paused: { since: startedAt, ...BY_HAND } })
    await world.clock.advance(1_100)
    const dueAt = world.clock.now()
    const task = await endOf({ deadlineAt: dueAt + 5_000 })
    assert.equal(heldBy(task), 'paused')
    assert.equal(heldSince(task), dueAt)
    assert.ok(task.state.status === 'EXHAUSTED' && task.state.endedAt >= dueAt + 60_000)
  })

  it('behind a pause of an operator says so, also of a task that was asked for by hand', async () => {
    const { world, startedAt } = await setting()
    await world.order('destination', LANE, { paused: { since: startedAt, isByOperator: true, ...BY_HAND } })
    await world.clock.advance(1_100)
    const { taskId } = await world.enqueue({ deadlineAt: world.clock.now() + 5_000 })
    await world.store.attemptNow(taskId)
    await world.finish(300_000)
    assert.equal(heldBy(await world.read(taskId)), 'paused')
  })

  it('behind a pause that has ended meanwhile says so, too: those on the way back as well', async () => {
    const { world, startedAt } = await setting()
    await world.order('destination', LANE, { paused: { since: startedAt, until: startedAt + 30_000, ...BY_HAND } })
    await world.clock.advance(1_100)
    await world.enqueueMany(50)
    const late = await world.enqueueMany(50, { deadlineAt: startedAt + 10_000 })
    await world.finish(300_000)
    const ends = await Promise.all(late.map(({ taskId }) => world.read(taskId)))
    assert.deepEqual(new Set(ends.map(heldBy)), new Set(['paused']))
  })

  it('behind a kill switch for retries says so', async () => {
    const { world, startedAt, endOf } = await setting({ behaviourOf: () => DOWN })
    await world.order('control', 'control-1', {
      level: 'retries-off',
      scope: { kind: 'all' },
      createdAt: startedAt,
      createdBy: 'operator',
      isByOperator: true,
      reason: 'a storm',
    })
    await world.clock.advance(1_100)
    const task = await endOf({ deadlineAt: world.clock.now() + 5_000 })
    assert.equal(heldBy(task), 'kill-switch')
    assert.equal(task.progress.attemptNumber, 1)
  })

  it('while its destination has asked to be left alone says so', async () => {
    const asks: Behaviour = { kind: 'answers', status: 429, ms: 50, retryAfterS: 100 }
    const { world, endOf } = await setting({ behaviourOf: () => asks })
    await world.enqueue()
    await world.clock.advance(1_000)
    const task = await endOf({ deadlineAt: world.clock.now() + 5_000 }, 700_000)
    assert.equal(heldBy(task), 'retry-after')
  })

  it('and that no gate held says nothing: the next attempt would have come too late', async () => {
    const { world, endOf } = await setting({ behaviourOf: () => DOWN })
    const task = await endOf({ deadlineAt: world.clock.now() + 1_500 })
    assert.equal(task.progress.attemptNumber, 2)
    assert.equal(heldBy(task), undefined)
  })

  it('and that waited for a slot of the service says nothing', async () => {
    const slow: Behaviour = { kind: 'answers', status: 200, ms: 10_000 }
    const { world, endOf } = await setting({ slots: 1, behaviourOf: () => slow })
    await world.enqueue({ destination: 'https://other.example' })
    await world.clock.advance(1_000)
    assert.equal(heldBy(await endOf({ deadlineAt: world.clock.now() + 2_000 })), undefined)
  })
})
