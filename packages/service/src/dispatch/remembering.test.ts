import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { Remember } from '../stores/store.ts'
import { laneKey } from '../task/lane.ts'
import { DOWN, GOOD, setting } from './dispatcher.test-kit.ts'
import { WELL } from './simulation/faulty-store.test-kit.ts'
import { neighbourOf } from './simulation/world.test-kit.ts'

const LANE = { tenant: 'acme', destination: 'https://api.example' }
const NEIGHBOUR = neighbourOf(LANE)
const LANES = [laneKey(LANE), laneKey(NEIGHBOUR)]

/** One instance, and its writes of memories; each takes so long. */
async function remembering(writeMs = 0) {
  const writes: (readonly string[])[] = []
  const at: number[] = []
  const { world, instance } = await setting({
    behaviourOf: destination => (destination === NEIGHBOUR.destination ? DOWN : GOOD),
    fateOf: (_, verb, ask) => {
      if (verb !== 'remember') return WELL
      writes.push((ask as Remember).lanes.map(({ lane }) => lane))
      at.push(world.clock.monotonic())
      return { ...WELL, afterMs: writeMs }
    },
  })
  const breaker = (): string | undefined => instance.dispatcher.view(laneKey(NEIGHBOUR))?.breaker
  return { world, writes, at, breaker }
}

describe('the memories of lanes', () => {
  it('are written together where their lanes are of one partition', async () => {
    const { world, writes } = await remembering()
    for (const lane of [LANE, NEIGHBOUR]) await world.enqueueMany(3, lane)
    await world.clock.advance(6_000)
    assert.deepEqual(
      writes.map(lanes => lanes.toSorted()),
      [LANES.toSorted()],
    )
  })

  it('are written one after the other: what is learned during a write follows it', async () => {
    const { world, writes, at, breaker } = await remembering(4_000)
    await world.enqueueMany(30, LANE)
    while (writes.length === 0) await world.clock.advance(100)
    await world.enqueueMany(30, NEIGHBOUR)
    await world.clock.advance(2_000)
    assert.equal(breaker(), 'open', 'which would be written at once')
    await world.clock.advance(2_000)
    assert.deepEqual(writes, [[LANES[0]], [LANES[1]]])
    assert.equal(at[1]! - at[0]!, 4_000)
  })
})
