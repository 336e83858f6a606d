import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { laneKey } from '../task/lane.ts'
import type { BreakerChanged } from '../telemetry/events.ts'
import type { Behaviour } from './simulation/scripted-target.test-kit.ts'
import { World } from './simulation/world.test-kit.ts'

const LANE = { tenant: 'acme', destination: 'https://api.example' }
const GOOD: Behaviour = { kind: 'answers', status: 200, ms: 50 }
const DOWN: Behaviour = { kind: 'answers', status: 503, ms: 50 }

/** One instance that has settled in, before a target that can be taken down. */
async function setting() {
  const changes: BreakerChanged[] = []
  const target = { isDown: false }
  const world = new World({
    behaviourOf: () => (target.isDown ? DOWN : GOOD),
    policy: { jitterType: 'NONE', initialDelayMs: 1_000, totalBudgetMs: 600_000, maxAttempts: 20 },
    lanes: { credit: { most: { first: 2 } } },
    events: { breakerChanged: change => changes.push(change) },
  })
  world.start()
  await world.clock.advance(20_000)
  return { world, target, changes }
}

describe('a breaker', () => {
  it('is told of when it opens, with the last failure, and when it has closed; not when its probes fail', async () => {
    const { world, target, changes } = await setting()
    target.isDown = true
    await world.enqueueMany(10)
    await world.clock.advance(1_000)
    assert.equal(changes.length, 0, 'what was sent before has failed, and no probe yet')
    await world.clock.advance(1_000)
    assert.equal(changes.length, 1)
    const { until, ...opened } = changes.find(change => change.phase === 'open')!
    assert.deepEqual(opened, { ...LANE, phase: 'open', errorCode: 'http-503' })
    assert.ok(Math.abs(until - world.clock.now()) <= 1_000, 'the next probe')
    await world.clock.advance(20_000)
    assert.equal(changes.length, 1, 'several probes have failed since')
    target.isDown = false
    await world.clock.advance(20_000)
    assert.deepEqual(changes.slice(1), [{ ...LANE, phase: 'closed' }])
  })

  it('that is set by hand is not told of as if the target had failed, nor when it judges for itself again', async () => {
    const { world, target, changes } = await setting()
    const key = laneKey(LANE)
    for (const breaker of ['open', 'auto', 'closed', 'auto'] as const) {
      target.isDown = breaker === 'closed'
      await world.order('destination', key, { forced: { breaker, since: world.clock.now(), by: 'operator' } })
      await world.clock.advance(2_000)
      await world.enqueueMany(3)
      await world.clock.advance(500)
    }
    assert.deepEqual(changes, [])
  })
})
