/** Each of these has once broken a design that looked right. */
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { laneKey, partitionOf } from '../../task/lane.ts'
import { partitionsOf, WELL, type Fate } from './faulty-store.test-kit.ts'
import type { SimulatedProcess } from './instance.test-kit.ts'
import type { Behaviour } from './scripted-target.test-kit.ts'
import { World, type WorldOptions } from './world.test-kit.ts'

const LANE = { tenant: 'acme', destination: 'https://api.example' }
const KEY = laneKey(LANE)
const PARTITION = partitionOf(KEY)

const GOOD: Behaviour = { kind: 'answers', status: 200, ms: 20 }
const DOWN: Behaviour = { kind: 'answers', status: 503, ms: 20 }
const HUNG: Behaviour = { kind: 'hangs', ms: 1e9 }

const POLICY = { maxAttempts: 10, initialDelayMs: 100, jitterType: 'NONE', attemptTimeoutMs: 1_000 } as const

/** A world in which calls of one lane's partition can be given another fate. */
function worldWith(options: WorldOptions & { readonly fate?: (call: Call) => Fate | undefined } = {}): World {
  const { fate, ...rest } = options
  const fateOf = (process: SimulatedProcess, verb: string, ask: unknown): Fate => {
    const partitions = partitionsOf(ask)
    const isElsewhere = partitions.length > 0 && !partitions.includes(PARTITION)
    return (isElsewhere ? undefined : fate?.({ process, verb, ask })) ?? WELL
  }
  return new World({ policy: POLICY, ...rest, fateOf })
}

interface Call {
  readonly process: SimulatedProcess
  readonly verb: string
  readonly ask: unknown
}

/** Of a take, or of a call with one claim. */
function tokenOf(ask: unknown): string {
  const [asked] = [ask].flat() as { readonly token: string }[]
  return asked!.token
}

const UNANSWERED: Fate = { ...WELL, answer: 'silence' }

/** Serves, and has served for long enough to have no ramp and a whole budget. */
async function settledProcess(world: World, name?: string): Promise<SimulatedProcess> {
  const process = world.start(name)
  await world.clock.advance(60_000)
  return process
}

async function attemptsOf(world: World, taskId: string): Promise<(string | undefined)[]> {
  const { items } = await world.store.attempts({ taskId, limit: 100 })
  return items.toSorted((left, right) => left.attemptNumber - right.attemptNumber).map(row => row.errorCode)
}

async function hasLease(world: World, taskId: string): Promise<boolean> {
  const { state } = await world.read(taskId)
  const { now } = await world.store.health()
  return state.status === 'IN_FLIGHT' && state.lease.endsAt > now
}

describe('leases', () => {
  it('that ended and fill the limit are ended, though the limit lets no claim through', async () => {
    let behaviour: Behaviour = HUNG
    const world = worldWith({ lanes: { limit: 2 }, behaviourOf: () => behaviour })
    const first = await settledProcess(world)
    const tasks = await world.enqueueMany(3)
    await world.clock.advance(100)
    first.kill()
    behaviour = GOOD
    world.start()
    await world.finish(60_000)
    assert.deepEqual(await attemptsOf(world, tasks[0]!.taskId), ['lost', undefined])
    assert.deepEqual(await attemptsOf(world, tasks[2]!.taskId), [undefined])
  })

  it('of an unanswered claim whose partition was lost meanwhile are put back, and count nothing', async () => {
    let hasLost = false
    const world = worldWith({
      fate: ({ verb, process }) => {
        if (verb !== 'claim' || hasLost) return undefined
        hasLost = true
        process.freeze()
        return UNANSWERED
      },
    })
    const first = await settledProcess(world, 'first')
    const task = await world.enqueue()
    await world.clock.advance(10)
    assert.equal(await world.statusOf(task), 'IN_FLIGHT')
    world.start('second')
    await world.clock.advance(12_000)
    assert.equal(world.destinations.seen.length, 0, 'the lease is still there')
    first.thaw()
    await world.clock.advance(7_000)
    assert.equal(await world.statusOf(task), 'SUCCEEDED')
    assert.deepEqual(await attemptsOf(world, task.taskId), [undefined])
  })

  it('of a newer claim that is still unanswered are not put back with those of an older one', async () => {
    const claims: unknown[] = []
    const world = worldWith({
      fate: ({ verb, ask }) => {
        if (verb !== 'claim') return undefined
        claims.push(ask)
        // The first is lost; the second is carried out, and its answer takes its time.
        if (claims.length === 1) return { ...WELL, isApplied: false, answer: 'silence' }
        return claims.length === 2 ? { ...WELL, afterMs: 3_000 } : undefined
      },
    })
    await settledProcess(world)
    const task = await world.enqueue()
    await world.finish(20_000)
    assert.equal(new Set(claims.map(tokenOf)).size, claims.length)
    assert.deepEqual(await attemptsOf(world, task.taskId), [undefined])
    assert.equal(world.destinations.seen.length, 1)
  })

  it('that were slept over are given back unused: nothing is sent without one', async () => {
    let claims = 0
    const leases: Promise<boolean>[] = []
    const world = worldWith({
      fate: ({ verb, process }) => {
        if (verb !== 'claim' || claims++ > 0) return undefined
        process.freeze()
        return WELL
      },
      onRequest: ({ idempotencyKey }) => leases.push(hasLease(world, idempotencyKey)),
    })
    const first = await settledProcess(world)
    const task = await world.enqueue({ policy: { totalBudgetMs: 600_000 } })
    await world.clock.advance(40_000)
    first.wake(40_000)
    await world.clock.advance(3_000)
    assert.deepEqual(await Promise.all(leases), [true], 'sent once, by a newer claim')
    assert.deepEqual(await attemptsOf(world, task.taskId), [undefined])
  })

  it('that came when their partition was already lost are given back unused', async () => {
    let claims = 0
    const world = worldWith({
      fate: ({ verb }) => (verb === 'claim' && claims++ === 0 ? { ...WELL, afterMs: 3_000 } : undefined),
    })
    await settledProcess(world)
    const task = await world.enqueue()
    await world.clock.advance(100)
    const { token } = (await world.stewards()).find(({ partition }) => partition === PARTITION)!
    await world.store.take({ partition: PARTITION, instance: 'thief', token: 'stolen', from: token })
    await world.clock.advance(4_000)
    assert.equal(await world.statusOf(task), 'PENDING')
    assert.equal(world.destinations.seen.length, 0)
  })

  it('of a claim that is carried out so late that they would be over are never used', async () => {
    let claims = 0
    const world = worldWith({
      fate: ({ verb }) => (verb === 'claim' && claims++ === 0 ? { ...WELL, beforeMs: 40_000 } : undefined),
    })
    await settledProcess(world)
    const task = await world.enqueue()
    await world.finish(10_000)
    await world.clock.advance(60_000)
    assert.deepEqual(await attemptsOf(world, task.taskId), [undefined])
    assert.equal(world.destinations.seen.length, 1)
  })
})

describe('a settle', () => {
  it('that got no answer is sent again, and counts once', async () => {
    let settles = 0
    const orphans: unknown[] = []
    const world = worldWith({
      fate: ({ verb }) => (verb === 'settle' && settles++ < 2 ? UNANSWERED : undefined),
      events: { orphan: event => orphans.push(event) },
    })
    await settledProcess(world)
    const task = await world.enqueue()
    await world.finish(30_000)
    await world.clock.advance(20_000)
    assert.ok(settles >= 3)
    assert.deepEqual(await attemptsOf(world, task.taskId), [undefined])
    assert.deepEqual(orphans, [])
  })
})

describe('an end that came while others were being written', () => {
  it('does not wait for the next beat', async () => {
    const world = worldWith({ fate: ({ verb }) => (verb === 'settle' ? { ...WELL, afterMs: 30 } : undefined) })
    await settledProcess(world)
    await world.clock.advance(100)
    await world.enqueue()
    await world.clock.advance(15)
    const second = await world.enqueue()
    await world.clock.advance(100)
    assert.equal(await world.statusOf(second), 'SUCCEEDED')
  })
})

describe('a budget', () => {
  it('that is empty holds retries, and never what stands behind them for the first time', async () => {
    const world = worldWith({
      lanes: { budget: { kind: 'ratio', ratio: 0, windowMs: 30_000, minRetries: 1 } },
      behaviourOf: (_, at) => (at < 70_000 ? DOWN : GOOD),
    })
    await settledProcess(world)
    const early = await world.enqueueMany(5, { policy: { totalBudgetMs: 3_600_000 } })
    await world.clock.advance(15_000)
    const late = await world.enqueueMany(5)
    await world.clock.advance(200)
    for (const task of late) assert.equal(await world.statusOf(task), 'SUCCEEDED')
    const made = await Promise.all(early.map(async ({ taskId }) => (await attemptsOf(world, taskId)).length))
    assert.equal(
      made.reduce((sum, count) => sum + count),
      6,
      'five first attempts and one retry',
    )
    assert.equal(world.processes[0]!.dispatcher.view(KEY)?.kindHolds?.retry?.reason, 'budget')
  })
})

describe('a gate that is shut', () => {
  it('keeps no deadline from passing: what is behind it ends when its time is over', async () => {
    const world = worldWith({
      lanes: { credit: { most: { first: 1 }, probeMinMs: 3_600_000 } },
      behaviourOf: () => DOWN,
    })
    await settledProcess(world)
    await world.enqueue()
    await world.clock.advance(100)
    const tasks = await world.enqueueMany(3, { policy: { totalBudgetMs: 30_000 } })
    await world.clock.advance(150_000)
    for (const task of tasks) {
      assert.equal(await world.statusOf(task), 'EXHAUSTED')
      assert.deepEqual(await attemptsOf(world, task.taskId), [])
    }
  })
})

describe('a hint', () => {
  it('that came after a claim was sent is not overwritten by its answer', async () => {
    const world = worldWith({ fate: ({ verb }) => (verb === 'claim' ? { ...WELL, afterMs: 500 } : undefined) })
    await settledProcess(world)
    await world.enqueue()
    await world.clock.advance(100)
    const second = await world.enqueue()
    await world.clock.advance(1_500)
    assert.equal(await world.statusOf(second), 'SUCCEEDED')
  })

  it('that is lost costs lateness, and nothing else', async () => {
    const world = worldWith({ hintDelayMs: () => undefined })
    await settledProcess(world)
    await world.enqueueMany(3, { policy: { totalBudgetMs: 60_000 } })
    await world.finish(31_000)
    assert.equal(world.destinations.seen.length, 3)
  })
})

describe('who takes a lane over', () => {
  it('finds its bucket empty, not full', async () => {
    const world = worldWith({ lanes: { rateLimit: { perSecond: 1, burst: 5 } } })
    const first = await settledProcess(world)
    await world.enqueueMany(30)
    await world.clock.advance(100)
    assert.equal(world.destinations.seen.length, 5)
    void first.dispatcher.stop({ graceMs: 0 })
    await world.clock.advance(500)
    world.start()
    await world.clock.advance(3_000)
    assert.equal(world.destinations.seen.length, 8)
  })

  it('takes a lane that it never heard of for one that has spent everything', async () => {
    const world = worldWith({ lanes: { rateLimit: { perSecond: 0.05, burst: 5 } } })
    const first = await settledProcess(world)
    await world.enqueueMany(5)
    await world.clock.advance(100)
    assert.equal(await world.isAllOver(), true, 'nothing of the lane is left to be found')
    first.kill()
    world.start()
    await world.clock.advance(12_000)
    await world.enqueueMany(5)
    await world.clock.advance(1_000)
    assert.equal(world.destinations.seen.length, 5)
  })

  it('never uses a token that was used before, by anybody', async () => {
    const tokens: string[] = []
    const world = worldWith({
      fate: ({ verb, ask }) => {
        if (verb === 'take' || verb === 'claim') tokens.push(tokenOf(ask))
        return undefined
      },
    })
    const first = await settledProcess(world)
    await world.enqueueMany(5)
    await world.clock.advance(1_000)
    first.kill()
    world.start()
    await world.enqueueMany(5)
    await world.finish(30_000)
    assert.equal(new Set(tokens).size, tokens.length)
    assert.ok(tokens.length >= 4)
  })
})

describe('a give that got lost', () => {
  it('is given again, so that the partition is served', async () => {
    let gives = 0
    const world = worldWith({
      fate: ({ verb }) => (verb === 'give' && gives++ < 2 ? { ...UNANSWERED, isApplied: false } : undefined),
    })
    await settledProcess(world, 'a')
    world.start('b')
    world.start('c')
    world.start('d')
    await world.clock.advance(30_000)
    const task = await world.enqueue()
    await world.clock.advance(1_000)
    assert.equal(await world.statusOf(task), 'SUCCEEDED')
  })
})
