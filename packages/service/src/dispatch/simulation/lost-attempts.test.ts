import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { World } from './world.test-kit.ts'

describe('an attempt whose process died', () => {
  it('began with its claim and ended with its lease, however late that is seen', async () => {
    const claimedAt: number[] = []
    const world = new World({
      policy: { attemptTimeoutMs: 1_000, jitterType: 'NONE' },
      behaviourOf: () => (claimedAt.length > 1 ? { kind: 'answers', status: 200, ms: 20 } : { kind: 'hangs', ms: 1e9 }),
      onRequest: () => void claimedAt.push(world.clock.now()),
    })
    const first = world.start()
    await world.clock.advance(60_000)
    const { taskId } = await world.enqueue()
    await world.clock.advance(100)
    first.kill()
    const { leaseMs, createdAt } = await world.read(taskId)
    await world.clock.advance(10 * leaseMs)
    world.start()
    await world.finish(60_000)
    const { items } = await world.store.attempts({ taskId, limit: 10 })
    const lost = items.find(({ errorCode }) => errorCode === 'lost')!
    assert.deepEqual([lost.startedAt, lost.durationMs], [claimedAt[0], leaseMs])
    assert.ok(lost.startedAt >= createdAt)
  })
})
