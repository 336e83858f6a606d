import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { REQUEST, TENANT } from '../stores/exam/tasks.test-kit.ts'
import type { ReplayRunnerStore } from './replay-runner.ts'
import { aWorldOfReplays } from './replays.test-kit.ts'

const DAY_MS = 86_400_000
const DOWN = { kind: 'answers', status: 503, ms: 20 } as const
const GOOD = { kind: 'answers', status: 200, ms: 20 } as const

describe('a full backlog', () => {
  it('keeps a replay waiting: it goes on as there is room, the oldest first, and loses and repeats nothing', async () => {
    let room = 0
    const backlog = { verdict: () => (room > 0 ? undefined : ('lane' as const)), taken: () => void room-- }
    const world = await aWorldOfReplays({ backlog })
    const { statusOf, clock, kill, start, plan, act, untilStatus, replayOf, countsOf, sentAt, problems } = world
    const dead = await kill(30)
    await start()
    const replayId = await plan({ canary: 0, ratePerSecond: 100 })
    await act(replayId, { kind: 'run' })
    await clock.advance(10_000)
    assert.deepEqual([(await countsOf(replayId)).moved, (await replayOf(replayId)).waitsForRoom], [0, true])
    assert.equal(await statusOf(dead[0]!), 'EXHAUSTED')
    room = 7
    for (let n = 0; n < 10; n++) await clock.advance(100)
    assert.deepEqual([(await countsOf(replayId)).moved, (await replayOf(replayId)).waitsForRoom], [7, true])
    assert.deepEqual([await statusOf(dead[6]!), await statusOf(dead[7]!)], ['SUCCEEDED', 'EXHAUSTED'])
    room = 30
    await untilStatus(replayId, 'FINISHED')
    const { sent, succeeded } = await countsOf(replayId)
    assert.deepEqual([sent, succeeded, sentAt().length, problems, room], [30, 30, 30, [], 7])
    assert.equal('waitsForRoom' in (await replayOf(replayId)), false)
  })
})

describe('a large body', () => {
  it('is kept for as long as its task may go on, from before it does', async () => {
    const { kill, world, startRunner, plan, act, untilStatus, store, clock } = await aWorldOfReplays()
    const storedBody = { bodyRef: 'sha256-a', sizeBytes: 100_000 }
    await kill(2, { request: { ...REQUEST, storedBody } })
    const instance = world.start()
    await clock.advance(20_000)
    const kept: number[] = []
    startRunner(instance, {
      ...store,
      bodies: (names, neededUntil = 0) => {
        for (const name of names) assert.deepEqual(name, { tenant: TENANT, bodyRef: 'sha256-a' })
        kept.push(neededUntil)
        return store.bodies(names, neededUntil)
      },
      replay: asks => {
        for (const { progress } of asks) assert.ok(kept.at(-1)! >= progress.expiresAt + 7 * DAY_MS, 'kept before')
        return store.replay(asks)
      },
    })
    const replayId = await plan({ canary: 0 })
    await act(replayId, { kind: 'run' })
    await untilStatus(replayId, 'FINISHED')
    assert.ok(kept.length > 0)
  })
})

describe('a plan', () => {
  it('counts what it selects and what it leaves alone, and sends nothing', async () => {
    const { world, kill, start, plan, replayOf, countsOf } = await aWorldOfReplays()
    await kill(30)
    await kill(4, { policyVersion: 7 })
    await kill(2, { destination: 'https://other.example' })
    await start()
    const replayId = await plan()
    const { status, selected, skipped, destinations } = await replayOf(replayId)
    assert.deepEqual([status, selected, destinations], ['PLANNED', 30, ['https://api.example']])
    assert.deepEqual(
      skipped.map(({ because, count }) => [because, count]),
      [['policy-missing', 4]],
    )
    assert.equal(world.destinations.seen.length, 0)
    assert.equal((await countsOf(replayId)).moved, 0)
  })

  it('is frozen: what dies later is no part of it, nor what it brought back and died again', async () => {
    const { world, kill, start, plan, act, untilStatus, countsOf } = await aWorldOfReplays({ behaviourOf: () => DOWN })
    await kill(8)
    await start()
    const replayId = await plan({ stopOnFailureRate: 1 })
    await world.enqueueMany(3, { policy: { maxAttempts: 1 } })
    await world.clock.advance(2_000)
    await act(replayId, { kind: 'run' })
    await untilStatus(replayId, 'FINISHED')
    await world.finish(3_600_000)
    assert.deepEqual(await countsOf(replayId), {
      moved: 8,
      waiting: 0,
      underWay: 0,
      sent: 8,
      failed: 8,
      succeeded: 0,
      exhausted: 8,
      cancelled: 0,
      recent: '1'.repeat(8),
    })
  })

  it('may name the tasks', async () => {
    const { kill, start, plan, replayOf } = await aWorldOfReplays()
    const dead = await kill(3)
    await start()
    const taskIds = [dead[0]!.taskId, dead[2]!.taskId, '019a8b1c-5f00-7d3e-9a41-0c2f6e5b7a2a']
    const { selected, skipped } = await replayOf(await plan({ filter: { taskIds } }))
    assert.equal(selected, 2)
    assert.deepEqual(skipped, [{ because: 'no-longer-dead', count: 1, sampleTaskIds: [taskIds[2]] }])
  })

  it('ends by itself when nobody runs it within a quarter of an hour', async () => {
    const { kill, start, plan, clock, replayOf, store } = await aWorldOfReplays()
    await kill(1)
    await start()
    const replayId = await plan()
    await clock.advance(902_000)
    const { status, endedFor } = await replayOf(replayId)
    assert.deepEqual([status, endedFor], ['CANCELLED', 'not-run'])
    const [line] = (await store.audit({ subject: replayId, limit: 1 })).items
    assert.deepEqual([line?.actor, line?.action], ['system', 'replay.cancel'])
  })
})

describe('a run', () => {
  it('sends a canary first, waits for it, and then goes on at its rate', async () => {
    const { kill, start, plan, act, untilStatus, sentAt, countsOf, problems } = await aWorldOfReplays()
    await kill(205)
    await start()
    const replayId = await plan({ ratePerSecond: 20 })
    assert.equal((await act(replayId, { kind: 'run' })).status, 'CANARY')
    await untilStatus(replayId, 'FINISHED')
    const sent = sentAt()
    assert.equal(sent.length, 205)
    assert.deepEqual(sent.slice(0, 5), [0, 50, 100, 150, 200])
    const [first, last] = [sent[5]!, sent[204]!]
    assert.ok(first >= 220, 'the canary has been answered')
    assert.equal(Math.round((last - first) / 199), 50, 'twenty a second')
    const { moved, succeeded, waiting } = await countsOf(replayId)
    assert.deepEqual([moved, succeeded, waiting], [205, 205, 0])
    assert.deepEqual(problems, [])
  })

  it('is stopped by its rule, says why, and leaves the rest dead', async () => {
    let downFrom = Infinity
    const setting = await aWorldOfReplays({ behaviourOf: at => (at >= downFrom ? DOWN : GOOD) })
    const { kill, start, plan, act, untilStatus, countsOf, stillDead, clock, store } = setting
    await kill(300)
    await start()
    const replayId = await plan({ ratePerSecond: 20 })
    await act(replayId, { kind: 'run' })
    downFrom = clock.monotonic() + 4_000
    const { stopped } = await untilStatus(replayId, 'STOPPED')
    assert.ok(stopped!.failed > 10 && stopped!.failed < 20 && stopped!.of === 50)
    const { moved } = await countsOf(replayId)
    assert.ok(moved < 4 * 20 + 11 + 2 * 20 + 5, `${moved} were moved`)
    await clock.advance(10_000)
    assert.equal((await countsOf(replayId)).moved, moved)
    assert.ok((await stillDead()) >= 300 - moved)
    const [line] = (await store.audit({ subject: replayId, action: 'replay.stop', limit: 1 })).items
    assert.deepEqual(line?.details, stopped)

    downFrom = Infinity
    assert.equal((await act(replayId, { kind: 'resume', ratePerSecond: 50 })).status, 'CANARY')
    await untilStatus(replayId, 'FINISHED')
    assert.equal((await countsOf(replayId)).moved, 300)
  })

  it('is stopped by the first of a canary that is one failure too many: that is all that was sent', async () => {
    const { kill, start, plan, act, untilStatus, countsOf } = await aWorldOfReplays({ behaviourOf: () => DOWN })
    await kill(50)
    await start()
    const replayId = await plan({ canary: 3 })
    await act(replayId, { kind: 'run' })
    const { stopped } = await untilStatus(replayId, 'STOPPED')
    assert.deepEqual([stopped?.failed, stopped?.of, stopped?.overLast], [1, 1, 3])
    assert.equal((await countsOf(replayId)).moved, 1)
  })

  it('pauses within a tenth of a second’s worth, resumes, and is cancelled for good', async () => {
    const { kill, start, plan, act, replayOf, countsOf, stillDead, clock, world } = await aWorldOfReplays()
    await kill(200)
    await start()
    const replayId = await plan({ ratePerSecond: 20, canary: 0 })
    await act(replayId, { kind: 'run' })
    await clock.advance(2_000)
    await act(replayId, { kind: 'pause' })
    const atPause = world.destinations.seen.length
    await clock.advance(30_000)
    const paused = await countsOf(replayId)
    assert.deepEqual([paused.waiting, paused.moved], [0, paused.sent])
    // Two that were planned, and one that was on its way.
    assert.ok(paused.sent - atPause <= 3, `${paused.sent - atPause} more were sent`)
    await act(replayId, { kind: 'resume' })
    await clock.advance(3_000)
    await act(replayId, { kind: 'cancel' })
    await clock.advance(30_000)
    const { moved, succeeded } = await countsOf(replayId)
    assert.ok(moved > paused.moved && moved < 200)
    assert.equal(moved, succeeded)
    assert.equal((await replayOf(replayId)).status, 'CANCELLED')
    assert.equal(await stillDead(), 200 - moved)
  })

  it('moves no more than a tenth of a second’s worth ahead of a destination that is not served', async () => {
    const { kill, start, plan, act, countsOf, clock } = await aWorldOfReplays({
      behaviourOf: () => ({ kind: 'hangs', ms: 1e9 }),
    })
    await kill(400)
    await start()
    const replayId = await plan({ ratePerSecond: 50, canary: 0, stopOnFailureRate: 1 })
    await act(replayId, { kind: 'run' })
    await clock.advance(5_000)
    const { waiting, underWay } = await countsOf(replayId)
    assert.equal(waiting, 5)
    assert.ok(underWay <= 100)
  })

  it('waits for another that sends to the same destination, and says so', async () => {
    const { kill, start, plan, act, untilStatus, replayOf, clock, countsOf } = await aWorldOfReplays()
    await kill(60)
    await start()
    const first = await plan({ canary: 0 })
    const second = await plan({ canary: 0 })
    await act(first, { kind: 'run' })
    await act(second, { kind: 'run' })
    await clock.advance(3_000)
    assert.equal((await replayOf(second)).waitsFor, first)
    assert.equal((await countsOf(second)).moved, 0)
    await untilStatus(first, 'FINISHED')
    const { skipped } = await untilStatus(second, 'FINISHED')
    assert.deepEqual(skipped, [{ because: 'no-longer-dead', count: 60, sampleTaskIds: [] }])
  })

  it('goes at its rate, however many another tenant has and whatever it does with them at every moment', async () => {
    const { kill, world, startRunner, plan, act, untilStatus, sentAt, clock, store, problems } = await aWorldOfReplays()
    await kill(40)
    await kill(1, { tenant: 'busy' })
    const instance = world.start()
    await clock.advance(20_000)
    const restless: ReplayRunnerStore = {
      ...store,
      record: ask => {
        runner.wake('busy')
        return store.record(ask)
      },
      records: ask => {
        if (ask.tenant === 'busy') looks++
        return store.records(ask)
      },
    }
    let looks = 0
    const runner = startRunner(instance, restless)
    for (let n = 0; n < 30; n++) {
      const replayId = await plan({ ratePerSecond: 0.01, canary: 0 }, 'busy')
      await act(replayId, { kind: 'run' }, 'busy')
    }
    const replayId = await plan({ ratePerSecond: 20, canary: 0 })
    await act(replayId, { kind: 'run' })
    looks = 0
    await untilStatus(replayId, 'FINISHED')
    assert.deepEqual(
      sentAt(),
      Array.from({ length: 40 }, (_, at) => at * 50),
    )
    assert.ok(looks > 0 && looks <= 100, `${looks} looks in some five seconds`)
    assert.deepEqual(problems, [])
  })

  it('goes on where a step for another tenant fails at every try', async () => {
    const { kill, world, startRunner, plan, act, untilStatus, countsOf, clock, store, problems } =
      await aWorldOfReplays()
    await kill(20)
    await kill(1, { tenant: 'broken' })
    const instance = world.start()
    await clock.advance(20_000)
    let broken: string | undefined
    startRunner(instance, {
      ...store,
      replayCounts: async replayIds => {
        assert.ok(broken === undefined || !replayIds.includes(broken), 'the counts are damaged')
        return store.replayCounts(replayIds)
      },
    })
    broken = await plan({ canary: 0 }, 'broken')
    await act(broken, { kind: 'run' }, 'broken')
    const replayId = await plan({ canary: 0 })
    await act(replayId, { kind: 'run' })
    await untilStatus(replayId, 'FINISHED')
    assert.equal((await countsOf(replayId)).moved, 20)
    assert.ok(problems.length > 0)
  })

  it('loses and repeats nothing when its instance dies at any moment', async () => {
    const { kill, world, start, startRunner, plan, act, untilStatus, countsOf, clock } = await aWorldOfReplays()
    await kill(150)
    let instance = await start()
    const replayId = await plan({ ratePerSecond: 20, canary: 0 })
    await act(replayId, { kind: 'run' })
    for (const ms of [1_130, 2_010, 990]) {
      await clock.advance(ms)
      instance.kill()
      instance = world.start()
      startRunner(instance)
      await clock.advance(12_000)
    }
    await untilStatus(replayId, 'FINISHED')
    await world.finish(600_000)
    const { moved, succeeded, sent } = await countsOf(replayId)
    assert.deepEqual([moved, sent, succeeded], [150, 150, 150])
  })

  it('makes a step again whose end was never written', async () => {
    const { kill, world, startRunner, plan, act, untilStatus, countsOf, clock, store, problems } =
      await aWorldOfReplays()
    await kill(60)
    const instance = world.start()
    await clock.advance(20_000)
    let refusals = 0
    const forgetful: ReplayRunnerStore = {
      ...store,
      write: (writes, audit) => {
        // Every third write is lost behind a move that was made.
        if (writes[0]?.document?.['status'] === 'RUNNING' && ++refusals % 3 === 0) throw new Error('no answer')
        return store.write(writes, audit)
      },
    }
    startRunner(instance, forgetful)
    const replayId = await plan({ canary: 0 })
    await act(replayId, { kind: 'run' })
    await untilStatus(replayId, 'FINISHED')
    assert.ok(problems.length > 0)
    assert.equal((await countsOf(replayId)).moved, 60)
    assert.equal(world.destinations.seen.length, 60)
  })
})
