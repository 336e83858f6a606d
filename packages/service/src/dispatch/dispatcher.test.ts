import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { DEFAULT_POLICY } from '@secondwind/resilience'
import { PARTITIONS } from '../task/lane.ts'
import { DOWN, GOOD, HUNG, KEY, setting } from './dispatcher.test-kit.ts'
import { WELL } from './simulation/faulty-store.test-kit.ts'
import type { SimulatedProcess } from './simulation/instance.test-kit.ts'
import { World } from './simulation/world.test-kit.ts'

async function stopped(world: World, { dispatcher }: SimulatedProcess, graceMs: number): Promise<void> {
  const stop = dispatcher.stop({ graceMs })
  await world.clock.advance(graceMs + 10_000)
  await stop
}

describe('a task', () => {
  it('is sent when it is due, and again after each wait, until it succeeds', async () => {
    const { world, sentAt, ended, attempts } = await setting({
      behaviourOf: (_, at) => (at < 24_000 ? DOWN : GOOD),
    })
    await world.enqueue({ delayMs: 1_500 })
    await world.finish(20_000)
    assert.deepEqual(sentAt(), [1_500, 2_550, 4_600])
    assert.deepEqual(
      attempts.map(({ attemptNumber, outcome, latenessMs, overheadMs, durationMs }) => [
        attemptNumber,
        outcome,
        latenessMs,
        overheadMs,
        durationMs,
      ]),
      [
        [1, 'transient', 0, 0, 50],
        [2, 'transient', 0, 0, 50],
        [3, 'success', 0, 0, 50],
      ],
    )
    assert.equal(ended[0]?.status, 'SUCCEEDED')
    assert.equal(ended[0]?.ageMs, 4_650)
  })

  it('ends without a request when its deadline passed while it waited', async () => {
    const { world, instance, ended } = await setting()
    const task = await world.enqueue({ delayMs: 1_000, policy: { totalBudgetMs: 500 } })
    instance.freeze()
    await world.clock.advance(2_000)
    instance.thaw()
    await world.clock.advance(100)
    assert.equal(await world.statusOf(task), 'EXHAUSTED')
    assert.deepEqual([ended[0]?.reason, ended[0]?.attemptNumber, world.destinations.seen.length], ['deadline', 0, 0])
  })

  it('is told how much of its deadline is left, and never more than an attempt may take', async () => {
    const told: number[] = []
    const { world } = await setting({
      onRequest: ({ delivery }) => told.push(delivery.timeoutMs, Number(delivery.headers['x-timeout-ms'])),
    })
    await world.enqueue({ policy: { totalBudgetMs: 4_000, attemptTimeoutMs: 10_000 } })
    await world.enqueue({ policy: { totalBudgetMs: 40_000, attemptTimeoutMs: 10_000 } })
    await world.clock.advance(500)
    assert.deepEqual(told, [4_000, 4_000, 10_000, 10_000])
  })

  it('whose policy is not there waits, is told of, and goes on when it is', async () => {
    const { world, warnings } = await setting({ policy: { totalBudgetMs: 600_000 } })
    const task = await world.enqueueUnder('later', 1)
    await world.clock.advance(1_000)
    assert.equal(await world.statusOf(task), 'PENDING')
    assert.match(
      warnings[0] ?? '',
      /^policy-missing: acme https:\/\/api.example: policy later, version 1, is not there/,
    )
    await world.putPolicy('later', 1, DEFAULT_POLICY)
    await world.clock.advance(61_000)
    assert.equal(await world.statusOf(task), 'SUCCEEDED')
    assert.ok(warnings.length <= 2, 'once a minute')
  })

  it('that is cancelled under way is cut off, and its lane learns nothing from it', async () => {
    const { world, instance, ended } = await setting({
      behaviourOf: () => HUNG,
      lanes: { credit: { most: { first: 1 } } },
    })
    const task = await world.enqueue()
    await world.clock.advance(100)
    assert.equal(instance.dispatcher.view(KEY)?.credit.first, 0)
    await world.store.cancel(task.taskId)
    instance.dispatcher.cut(task.taskId)
    await world.clock.advance(10)
    assert.equal(await world.statusOf(task), 'CANCELLED')
    assert.equal(world.destinations.open.size, 0)
    assert.equal(ended[0]?.status, 'CANCELLED')
    assert.equal(instance.dispatcher.view(KEY)?.credit.first, 0, 'it was sent: cancelling is no way around credit')
  })

  it('that is cancelled while the claim that took it is under way is not sent', async () => {
    const { world, instance, ended } = await setting({
      fateOf: (_, verb) => (verb === 'claim' ? { ...WELL, afterMs: 100 } : WELL),
    })
    const task = await world.enqueue()
    const other = await world.enqueue()
    await world.clock.advance(50)
    assert.equal(await world.statusOf(task), 'IN_FLIGHT')
    await world.store.cancel(task.taskId)
    instance.dispatcher.cut(task.taskId)
    await world.clock.advance(1_000)
    assert.deepEqual([await world.statusOf(task), await world.statusOf(other)], ['CANCELLED', 'SUCCEEDED'])
    assert.equal((await world.read(task.taskId)).progress.attemptNumber, 0)
    assert.deepEqual(
      world.destinations.seen.map(({ idempotencyKey }) => idempotencyKey),
      [other.taskId],
    )
    assert.equal(ended.find(({ taskId }) => taskId === task.taskId)?.status, 'CANCELLED')
  })

  it('that cannot be sent for a lack of ours burns no attempt, and its lane learns nothing from it', async () => {
    const { world, instance, attempts, warnings } = await setting({
      behaviourOf: (_, at) => (at < 29_000 ? { kind: 'lacks', ms: 1 } : GOOD),
      policy: { maxAttempts: 2 },
    })
    const tasks = await world.enqueueMany(3)
    await world.clock.advance(8_000)
    for (const task of tasks) assert.equal((await world.read(task.taskId)).progress.attemptNumber, 0)
    assert.equal(instance.dispatcher.view(KEY)?.credit.first, 20)
    assert.equal(world.destinations.seen.length, 6, 'every five seconds')
    assert.ok(warnings.every(text => text.startsWith('resources-out: ')))
    await world.finish(20_000)
    for (const task of tasks) assert.equal(await world.statusOf(task), 'SUCCEEDED')
    assert.deepEqual(
      attempts.map(({ attemptNumber, outcome }) => [attemptNumber, outcome]),
      tasks.map(() => [1, 'success']),
    )
  })

  it('that an operator wants now goes before all others of its lane', async () => {
    const { world } = await setting({ lanes: { limit: 1 } })
    await world.enqueueMany(5)
    const wanted = await world.enqueue({ delayMs: 500_000 })
    await world.clock.advance(10)
    await world.store.attemptNow(wanted.taskId)
    await world.finish(10_000)
    assert.equal(world.destinations.seen[1]?.idempotencyKey, wanted.taskId)
  })

  it('of a machine that slept over its lease is cut off when it wakes', async () => {
    const { world, instance } = await setting({ behaviourOf: () => HUNG })
    const task = await world.enqueue({ policy: { attemptTimeoutMs: 20_000, maxAttempts: 1 } })
    await world.clock.advance(100)
    instance.freeze()
    await world.clock.advance(60_000)
    instance.wake(60_000)
    await world.clock.advance(3_000)
    assert.equal(world.destinations.open.size, 0)
    assert.equal(await world.statusOf(task), 'EXHAUSTED')
  })
})

describe('a clock', () => {
  it('of the store that leaps makes due what it has leapt over', async () => {
    const { world } = await setting()
    const task = await world.enqueue({ delayMs: 60_000 })
    await world.clock.advance(1_000)
    world.storeOffsetMs += 60_000
    await world.clock.advance(1_500)
    assert.equal(await world.statusOf(task), 'SUCCEEDED')
  })

  it('of the store that falls back delays by as much, and sends nothing twice', async () => {
    const { world, sentAt } = await setting()
    await world.enqueue({ delayMs: 5_000 })
    await world.clock.advance(1_000)
    world.storeOffsetMs -= 3_000
    await world.finish(20_000)
    assert.deepEqual(sentAt(), [8_000])
  })
})

describe('a clock of the store that is ahead of the wall clock', () => {
  it('goes at half speed: everything is sent once, late and never early, and nobody is asked in a storm', async () => {
    let claims = 0
    const { world, sentAt } = await setting({ fateOf: (_, verb) => ((claims += verb === 'claim' ? 1 : 0), WELL) })
    for (const delayMs of [10_000, 20_000, 40_000]) await world.enqueue({ delayMs })
    world.clock.jumpWall(-3_600_000)
    await world.finish(100_000)
    assert.deepEqual(
      sentAt().map(ms => Math.round(ms / 1_000)),
      [20, 40, 80],
    )
    assert.ok(claims < 60, `${claims} claims for three tasks`)
  })
})

describe('tenants and destinations', () => {
  it('share slots: one whose calls all hang takes no more than its part', async () => {
    const { world } = await setting({
      slots: 20,
      behaviourOf: destination => (destination.includes('slow') ? HUNG : GOOD),
    })
    await world.enqueueMany(100, {
      tenant: 'slow',
      destination: 'https://slow.example',
      policy: { attemptTimeoutMs: 9_000 },
    })
    await world.clock.advance(100)
    const quick = await world.enqueueMany(40, { tenant: 'quick', destination: 'https://quick.example' })
    await world.clock.advance(2_500)
    for (const task of quick) assert.equal(await world.statusOf(task), 'SUCCEEDED')
  })

  it('do not wait for each other: a lane that is shut keeps nobody', async () => {
    const { world } = await setting({
      lanes: { credit: { most: { first: 2 } } },
      behaviourOf: destination => (destination.includes('dead') ? DOWN : GOOD),
    })
    await world.enqueueMany(50, { destination: 'https://dead.example' })
    const others = await world.enqueueMany(20)
    await world.clock.advance(1_000)
    for (const task of others) assert.equal(await world.statusOf(task), 'SUCCEEDED')
  })
})

describe('instances', () => {
  it('that find what others have begun, and know nothing of it, begin with a quarter of its credit', async () => {
    const world = new World({ slots: 50, behaviourOf: () => ({ kind: 'answers', status: 200, ms: 400 }) })
    await world.enqueueMany(100)
    await world.enqueue({ attemptsMade: 1 })
    world.start()
    let before = 0
    while (world.destinations.seen.length === 0 || world.destinations.open.size === world.destinations.seen.length) {
      before = world.destinations.seen.length
      await world.clock.advance(100)
    }
    assert.ok(before <= 6, `${before} requests before the first answer`)
    await world.clock.advance(10_000)
    assert.equal(await world.count('succeeded'), 101)
  })

  it('that are stopped while they begin leave nothing in their name', async () => {
    const world = new World({ fateOf: (_, verb) => (verb === 'take' ? { ...WELL, afterMs: 500 } : WELL) })
    const instance = world.start()
    await world.clock.advance(200)
    await stopped(world, instance, 100)
    assert.deepEqual(await world.stewards(), [])
  })

  it('share the partitions, and each task is sent once', async () => {
    const { world } = await setting()
    world.start()
    world.start()
    await world.clock.advance(20_000)
    for (let n = 0; n < 30; n++) await world.enqueue({ destination: `https://api-${n}.example` })
    await world.finish(5_000)
    assert.equal(world.destinations.seen.length, 30)
    const senders = new Set(world.destinations.seen.map(({ process }) => process.name))
    assert.equal(senders.size, 3)
  })

  it('hand over what they have learned of a lane', async () => {
    const { world, instance } = await setting({
      lanes: { credit: { most: { first: 1 }, probeMinMs: 60_000 } },
      behaviourOf: () => DOWN,
    })
    await world.enqueueMany(2, { policy: { initialDelayMs: 300_000, maxDelayMs: 300_000 } })
    await world.clock.advance(61_000)
    assert.equal(instance.dispatcher.view(KEY)?.breaker, 'open')
    instance.kill()
    const next = world.start()
    await world.clock.advance(15_000)
    const view = next.dispatcher.view(KEY)
    assert.deepEqual([view?.breaker, view?.kindHolds?.first?.reason], ['open', 'breaker-open'])
    assert.equal(world.destinations.seen.length, 2)
  })

  it('that stop let attempts end, give their partitions away, and leave nothing under way', async () => {
    const { world, instance } = await setting()
    await world.enqueueMany(10)
    await world.clock.advance(10)
    await stopped(world, instance, 1_000)
    assert.equal(await world.count('succeeded'), 10)
    assert.deepEqual(await world.stewards(), [])
    assert.equal(world.clock.pending, 0, 'nothing is armed any more')
  })

  it('that stop cut off what takes too long: it was sent, and counts', async () => {
    const { world, instance } = await setting({ behaviourOf: () => HUNG, lanes: { limit: 2 } })
    const tasks = await world.enqueueMany(3)
    await world.clock.advance(10)
    await stopped(world, instance, 500)
    const rows = await Promise.all(
      tasks.map(async ({ taskId }) => (await world.store.attempts({ taskId, limit: 10 })).items),
    )
    assert.deepEqual(
      rows.map(items => items.map(({ outcome, errorCode }) => `${outcome} ${errorCode}`)),
      [['ambiguous shutdown'], ['ambiguous shutdown'], []],
    )
    for (const task of tasks) assert.equal(await world.statusOf(task), 'PENDING')
  })
})

describe('a store that cannot be reached', () => {
  it('is left alone for a while, and nothing is lost when it is back', async () => {
    let isDown = false
    let calls = 0
    const { world, instance, warnings } = await setting({
      fateOf: () => {
        if (isDown) calls++
        return isDown ? { ...WELL, isApplied: false, answer: 'error' } : WELL
      },
    })
    await world.enqueueMany(10, { delayMs: 1_000 })
    isDown = true
    await world.clock.advance(30_000)
    assert.equal(instance.dispatcher.view(KEY)?.hold?.reason ?? 'store', 'store')
    assert.ok(calls < 200, `${calls} calls in half a minute`)
    assert.match(warnings.join(), /store-unavailable/)
    isDown = false
    await world.clock.advance(10_000)
    assert.equal(await world.count('succeeded'), 10)
    assert.equal(world.destinations.seen.length, 10)
  })
})

describe('a store that is slow', () => {
  it('is not outrun: no more is sent than could be kept in mind until it is written', async () => {
    const { world } = await setting({
      slots: 10,
      behaviourOf: () => ({ kind: 'answers', status: 200, ms: 1 }),
      fateOf: (_, verb) => (verb === 'settle' ? { ...WELL, beforeMs: 4_500 } : WELL),
    })
    await world.enqueueMany(200)
    await world.clock.advance(4_000)
    assert.ok(world.destinations.seen.length <= 30, `${world.destinations.seen.length} were sent`)
    await world.finish(200_000)
    assert.equal(world.destinations.seen.length, 200)
  })

  it('undoes no move by an answer that was given before it', async () => {
    let takes = 0
    const world = new World({
      fateOf: (_, verb) => {
        if (verb === 'take') takes++
        return verb === 'take' ? { ...WELL, beforeMs: 100 } : verb === 'beat' ? { ...WELL, afterMs: 900 } : WELL
      },
    })
    world.start()
    await world.clock.advance(20_000)
    assert.equal(takes, PARTITIONS)
  })

  it('and was gone for long has nobody take the others for dead: nobody could have heard them', async () => {
    let isDown = false
    const { world } = await setting({
      fateOf: () => (isDown ? { ...WELL, isApplied: false, answer: 'error' } : WELL),
    })
    await world.clock.advance(500)
    world.start()
    // The first has heard the other's last beat, and is the first to look again.
    await world.clock.advance(20_700)
    const before = await world.stewards()
    isDown = true
    await world.clock.advance(19_600)
    isDown = false
    await world.clock.advance(5_000)
    assert.deepEqual(await world.stewards(), before)
  })
})

describe('a view of a lane', () => {
  it('says what waits, why, and until when; an idle one is as its orders make it', async () => {
    const { world, instance } = await setting({ behaviourOf: () => HUNG, lanes: { limit: 2 } })
    await world.enqueueMany(3)
    await world.clock.advance(10)
    const view = instance.dispatcher.view(KEY)
    assert.deepEqual([view?.limit, view?.inFlight, view?.hold?.reason], [2, 2, 'concurrency'])
    assert.equal(view?.oldestDueAt, world.clock.now() - 10)
    const { breaker, credit, limit, inFlight } = instance.dispatcher.view('acme https://other.example')!
    assert.deepEqual({ breaker, limit, inFlight }, { breaker: 'closed', limit: 2, inFlight: 0 })
    assert.deepEqual(credit, { first: 20, retry: 60, late: 20 })
  })
})
