import { nextTurn } from '@secondwind/resilience'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { LaneWalk } from './lane-walk.ts'

/** Two partitions with so many lanes in all, which only note that they were passed. */
function manyLanes(count: number) {
  const passed: number[] = []
  const partitions = new Map([0, 1].map(number => [number, { lanes: new Map<string, { catchUp(): void }>() }]))
  for (let n = 0; n < count; n++) partitions.get(n % 2)!.lanes.set(`lane ${n}`, { catchUp: () => void passed.push(n) })
  return { walk: new LaneWalk(partitions), passed }
}

const turn = (): Promise<void> => new Promise(nextTurn)

describe('a walk through all lanes', () => {
  it('passes each of them, and lets others have their turn every hundred', async () => {
    const { walk, passed } = manyLanes(1_000)
    const walking = walk.begin()
    const seen: number[] = []
    for (let turns = 0; turns < 9; turns++) {
      seen.push(passed.length)
      await turn()
    }
    await walking
    assert.deepEqual([seen[0], new Set(passed).size, passed.length], [100, 1_000, 1_000])
    assert.ok(seen.every((count, at) => at === 0 || count - seen[at - 1]! <= 100))
  })

  it('is not broken off by the next: whoever orders without end keeps it from no lane', async () => {
    const { walk, passed } = manyLanes(1_000)
    const walking = walk.begin()
    for (let orders = 0; orders < 9; orders++) {
      await turn()
      void walk.begin()
    }
    await walking
    // Twice: what was ordered while it was under way may concern lanes that it had passed.
    assert.deepEqual([new Set(passed.slice(0, 1_000)).size, passed.length], [1_000, 2_000])
  })
})
