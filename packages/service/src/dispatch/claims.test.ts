import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { WELL } from './simulation/faulty-store.test-kit.ts'
import { SENT_IN_ONE_TURN, UnderWay } from './claims.ts'
import type { SimulatedProcess } from './simulation/instance.test-kit.ts'
import { neighbourOf, World, type Accepted, type WorldOptions } from './simulation/world.test-kit.ts'
import type { Attempt } from './attempt.ts'

const LANE = { tenant: 'acme', destination: 'https://api.example' }

/** One instance that has settled in. */
async function setting(options: WorldOptions) {
  const world = new World(options)
  world.start()
  await world.clock.advance(20_000)
  return { world }
}

describe('claims', () => {
  it('ask for more at a time, the more a queue gives', async () => {
    let claims = 0
    const { world } = await setting({
      slots: 200,
      fateOf: (_, verb) => {
        if (verb === 'claim') claims++
        return verb === 'claim' ? { ...WELL, afterMs: 20 } : WELL
      },
    })
    await world.enqueueMany(1_000)
    await world.finish(10_000)
    assert.ok(claims < 60, `${claims} claims for a thousand tasks`)
  })

  it('are made for slots that were gathered for a moment, where one after the other becomes free', async () => {
    let claims = 0
    let requests = 0
    const { world } = await setting({
      slots: 100,
      fateOf: (_, verb) => ((claims += verb === 'claim' ? 1 : 0), WELL),
      // Answers come one by one, eight in a millisecond.
      behaviourOf: () => ({ kind: 'answers', status: 200, ms: 50 + 0.125 * (requests++ % 80) }),
    })
    await world.enqueueMany(1_000)
    await world.finish(10_000)
    assert.ok(claims < 250, `${claims} claims for a thousand tasks`)
  })

  it('wait for nothing where there are slots enough', async () => {
    const { world } = await setting({ slots: 100 })
    for (let n = 0; n < 20; n++) {
      await world.enqueue()
      await world.clock.advance(5)
    }
    const sentAt = world.destinations.seen.map(({ at }) => at - 20_000)
    assert.deepEqual(
      sentAt,
      Array.from({ length: 20 }, (_, n) => 5 * n),
    )
  })

  /** When claims and settles were asked for, the claims each answered after so many milliseconds. */
  const asking = async (claimMs: readonly number[]) => {
    const asked: [verb: string, at: number][] = []
    let claims = 0
    const { world } = await setting({
      fateOf: (_, verb) => {
        if (verb === 'claim' || verb === 'settle') asked.push([verb, world.clock.monotonic() - 20_000])
        return verb === 'claim' ? { ...WELL, afterMs: claimMs[claims++] ?? 0 } : WELL
      },
      behaviourOf: () => ({ kind: 'answers', status: 200, ms: 50 }),
    })
    return { world, asked }
  }

  it('have what ends meanwhile written right after their answer, so that it is one commit with the next of them', async () => {
    const { world, asked } = await asking([4, 4])
    await world.enqueue()
    await world.clock.advance(52)
    // Sent at 4, answered at 54; the claim of the second is under way from 52 until 56.
    await world.enqueue()
    await world.clock.advance(100)
    assert.deepEqual(asked, [
      ['claim', 0],
      ['claim', 52],
      ['settle', 56],
      ['settle', 106],
    ])
  })

  it('that are slow, or of another partition, keep nothing that ended waiting for more than five milliseconds', async () => {
    const { world, asked } = await asking([0, 1_000])
    await world.enqueue(LANE)
    await world.clock.advance(20)
    await world.enqueue({ ...LANE, destination: 'https://other.example' })
    await world.clock.advance(100)
    assert.deepEqual(asked, [
      ['claim', 0],
      ['claim', 20],
      ['settle', 55],
    ])
  })

  it('of one lane keep no other lane of its partition waiting for longer than their answer', async () => {
    const other = neighbourOf(LANE)
    const { world } = await setting({
      fateOf: (_, verb) => (verb === 'claim' ? { ...WELL, afterMs: 300 } : WELL),
    })
    await world.enqueue()
    await world.clock.advance(100)
    const task = await world.enqueue(other)
    await world.clock.advance(700)
    assert.equal(await world.statusOf(task), 'SUCCEEDED')
  })

  describe('of more than is sent in one turn', () => {
    /** Claims grow: eight, sixteen, and then all that are left. */
    const SENT_BEFORE = 24
    const SENT = SENT_BEFORE + SENT_IN_ONE_TURN
    const ALL = 60

    /** `onPause` hears which tasks were not sent with the first of the last claim. */
    const paused = async (onPause: (process: SimulatedProcess, unsent: readonly Accepted[]) => void) => {
      const world = new World({
        slots: 200,
        onRequest: ({ process }) => {
          if (world.destinations.seen.length + 1 === SENT) queueMicrotask(() => onPause(process, unsent()))
        },
      })
      const tasks = await world.enqueueMany(ALL)
      const unsent = (): Accepted[] => {
        const sent = new Set(world.destinations.seen.map(({ idempotencyKey }) => idempotencyKey))
        return tasks.filter(({ taskId }) => !sent.has(taskId))
      }
      world.start()
      return world
    }

    it('send no task that is cancelled before its turn, and count nothing', async () => {
      let cancelled: Accepted | undefined
      const world = await paused((process, [first]) => {
        cancelled = first
        void world.store.cancel(first!.taskId)
        process.dispatcher.cut(first!.taskId)
      })
      await world.finish(60_000)
      const { state, progress } = await world.read(cancelled!.taskId)
      assert.deepEqual([state.status, progress.attemptNumber], ['CANCELLED', 0])
      assert.equal(world.destinations.seen.length, ALL - 1)
    })

    it('send nothing on orders that have grown old meanwhile, and count nothing', async () => {
      const world = await paused(process => process.jumpWall(2_500))
      await world.finish(60_000)
      const { seen } = world.destinations
      assert.equal(seen.length, ALL)
      assert.ok(seen.slice(SENT).every(({ at }) => at > 0))
      const last = await world.read(seen.at(-1)!.idempotencyKey)
      assert.equal(last.progress.attemptNumber, 1)
    })
  })
})

const attempt = (taskId: string): Attempt => ({ taskId, place: 0 }) as Attempt

describe('what is under way', () => {
  it('is found by its task, in whatever order attempts come and go', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(9)), numbers => {
        const underWay = new UnderWay()
        const expected = new Map<string, Attempt>()
        for (const number of numbers) {
          const taskId = `task ${number}`
          const present = expected.get(taskId)
          if (present === undefined) {
            expected.set(taskId, attempt(taskId))
            underWay.add(expected.get(taskId)!)
          } else {
            expected.delete(taskId)
            underWay.remove(present)
          }
          assert.equal(underWay.of(taskId), expected.get(taskId))
        }
        assert.equal(underWay.size, expected.size)
        assert.deepEqual(new Set(underWay.all()), new Set(expected.values()))
      }),
    )
  })

  it('can end while all of it is walked through', () => {
    const underWay = new UnderWay()
    for (const taskId of ['a', 'b', 'c']) underWay.add(attempt(taskId))
    const walked = underWay.all().map(one => {
      underWay.remove(one)
      return one.taskId
    })
    assert.deepEqual([walked, underWay.size], [['a', 'b', 'c'], 0])
  })
})
