import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { DestinationSettings } from '../task/destination-settings.ts'
import { laneKey } from '../task/lane.ts'
import type { AttemptEnded } from '../telemetry/events.ts'
import { World, type WorldOptions } from './simulation/world.test-kit.ts'

const LANE = laneKey({ tenant: 'acme', destination: 'https://api.example' })

/** One instance that has settled in, and how late its attempts began, in the order of their ends. */
async function setting(options: WorldOptions = {}) {
  const attempts: AttemptEnded[] = []
  const world = new World({
    ...options,
    policy: { totalBudgetMs: 3_600_000 },
    events: { attemptEnded: event => attempts.push(event) },
  })
  const { dispatcher } = world.start()
  await world.clock.advance(20_000)
  const startedAt = world.clock.now()
  return {
    world,
    attempts,
    set: (settings: DestinationSettings) => world.order('destination', LANE, settings),
    paused: { since: startedAt, by: 'operator', reason: 'a test' },
    /** As ages. */
    due: () => {
      const { oldestDueAt, overdueSince, heldSince } = dispatcher.view(LANE)!
      const now = world.clock.now()
      const ageOf = (at?: number): number | undefined => (at === undefined ? undefined : now - at)
      return { oldestDueAt: ageOf(oldestDueAt), overdueSince: ageOf(overdueSince), heldSince: ageOf(heldSince) }
    },
  }
}

describe('what a gate holds', () => {
  it('is held and not overdue, however long; the service is not late with it', async () => {
    const { world, attempts, set, paused, due } = await setting()
    await set({ paused })
    await world.clock.advance(1_100)
    await world.enqueue()
    await world.clock.advance(600_000)
    assert.deepEqual(due(), { oldestDueAt: 600_000, overdueSince: undefined, heldSince: 600_000 })
    await set({})
    await world.clock.advance(1_100)
    const [{ latenessMs, ownLatenessMs }] = attempts as [AttemptEnded]
    assert.ok(latenessMs > 600_000, `${latenessMs} ms`)
    assert.equal(ownLatenessMs, 0)
  })

  it('is what waits for its turn at a destination, too', async () => {
    const behaviourOf = () => ({ kind: 'answers', status: 200, ms: 5_000 }) as const
    const { world, attempts, due } = await setting({ behaviourOf, lanes: { limit: 1 } })
    await world.enqueueMany(3)
    await world.clock.advance(7_000)
    assert.deepEqual(due(), { oldestDueAt: 7_000, overdueSince: undefined, heldSince: 7_000 })
    await world.clock.advance(20_000)
    assert.deepEqual(
      attempts.map(({ ownLatenessMs }) => ownLatenessMs),
      [0, 0, 0],
    )
    assert.ok(attempts[2]!.latenessMs >= 10_000)
  })
})

describe('what only the service keeps', () => {
  it('is overdue, and its wait for a slot is lateness of our own', async () => {
    const behaviourOf = () => ({ kind: 'answers', status: 200, ms: 5_000 }) as const
    const { world, attempts, due } = await setting({ behaviourOf, slots: 1 })
    await world.enqueueMany(2)
    await world.clock.advance(3_000)
    assert.deepEqual(due(), { oldestDueAt: 3_000, overdueSince: 3_000, heldSince: undefined })
    await world.clock.advance(20_000)
    const [, { ownLatenessMs, overheadMs }] = attempts as [AttemptEnded, AttemptEnded]
    assert.ok(ownLatenessMs >= 5_000, `${ownLatenessMs} ms`)
    assert.equal(overheadMs, 0)
  })
})
