import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { explain } from '../task/explain.ts'
import { laneKey } from '../task/lane.ts'
import type { Verb } from '../stores/store.ts'
import { WELL } from './simulation/faulty-store.test-kit.ts'
import { World } from './simulation/world.test-kit.ts'

const KEY = laneKey({ tenant: 'acme', destination: 'https://api.example' })

/** Those that a claim needs; what is read, and the beat, get their answers. */
const WRITES: readonly Verb[] = ['claim', 'take', 'settle']

describe('a store that can be read and not written', () => {
  it('is the gate that what is due stands behind, since it was due, until it can be written again', async () => {
    let isFull = false
    const fateOf = (_: unknown, verb: Verb) =>
      isFull && WRITES.includes(verb) ? ({ ...WELL, isApplied: false, answer: 'error' } as const) : WELL
    const world = new World({ fateOf, policy: { totalBudgetMs: 600_000 } })
    const { dispatcher } = world.start()
    await world.clock.advance(20_000)
    const { taskId } = await world.enqueue({ delayMs: 1_000 })
    const task = await world.read(taskId)
    const dueAt = task.createdAt + 1_000
    isFull = true
    for (let look = 0; look < 60; look++) {
      await world.clock.advance(look === 0 ? 2_000 : 1_037)
      const view = dispatcher.view(KEY)!
      assert.deepEqual([view.hold, view.oldestDueAt], [{ reason: 'store' }, dueAt])
      assert.match(explain(task, view, dispatcher.now()), /has been due for .*: the store cannot be written to, until/)
    }
    isFull = false
    await world.clock.advance(10_000)
    assert.equal(world.destinations.seen.length, 1)
    assert.equal(dispatcher.view(KEY)?.hold, undefined)
  })
})
