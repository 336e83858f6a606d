import assert from 'node:assert/strict'
import { describe, it, onTestFinished } from 'vitest'
import { queueKey } from '../../../task/lane.ts'
import { LANE, newTask, PARTITION, QUEUE, TENANT } from '../../conformance/tasks.test-kit.ts'
import type { TaskFilter } from '../../task-store.ts'
import { openFile } from '../file/file.ts'
import { readRowsOfTasks } from '../rows/rows-of-tasks.ts'
import { newRow } from '../rows/task-rows.ts'
import { temporaryDirectory } from '../sqlite.test-kit.ts'
import { commit, type Call } from '../writer/commit.ts'
import { createWriter } from '../writer/writer.ts'
import { createList } from './list.ts'

const START = 1_767_225_600_000
const TASKS = 5_000

/** A list of many tasks, created a second apart; each tenth is of another tenant. Some of them have died. */
function manyTasks({ dead = 0 } = {}) {
  const { connection, path, close } = openFile({ directory: temporaryDirectory() })
  onTestFinished(close)
  const tasks = Array.from({ length: TASKS }, (_, n) =>
    newTask(n, START + n * 1_000, {
      dueAt: START + n * 1_000,
      progress: { expiresAt: START },
      ...(n % 10 === 0 && { tenant: 'other' }),
    }),
  )
  const limits = { perLane: Infinity, total: Infinity }
  const writer = createWriter(connection)
  const steward = { partition: PARTITION, instance: 'one', token: 'mine', from: null }
  const enqueue: Call = ['enqueue', { tasks: tasks.map(newRow), limits }]
  commit(writer, { now: START, calls: [['take', steward], enqueue] }, path)
  // Thirty by thirty, the oldest first, each half a minute after those before.
  const queue = { partition: PARTITION, steward: 'mine', lane: LANE, queue: queueKey(QUEUE), limit: 30 }
  for (let n = 0; n < dead; n += 30) commit(writer, { now: START + n * 1_000, calls: [['expire', queue]] }, path)
  const rows = readRowsOfTasks(connection)
  rows.catchUp()
  const list = createList(connection, rows)
  const pages = (filter: Partial<TaskFilter>, limit = 200): number[][] => {
    const found: number[][] = []
    let from: [number] | null | undefined
    do {
      const { items, next } = list({ filter: { tenant: TENANT, ...filter }, limit, ...(from && { from }) })
      found.push(items.map(({ createdAt }) => (createdAt - START) / 1_000))
      from = next
    } while (from !== null && found.length < TASKS)
    return found
  }
  return { pages }
}

const downFrom = (last: number, first: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, n) => last - n).filter(n => n % 10 !== 0)

describe('a list of many tasks', () => {
  it('shows each once, the newest first', () => {
    const { pages } = manyTasks()
    assert.deepEqual(pages({}).flat(), downFrom(TASKS - 1, 0))
  })

  it('looks at so many for a page and no more: one that finds nothing has a cursor, and they come to an end', () => {
    const { pages } = manyTasks()
    assert.deepEqual(pages({ tenant: 'nobody' }), [[], [], []])
  })

  it('goes straight to the time that is asked for, wherever that is', () => {
    const { pages } = manyTasks()
    for (const [first, behind] of [
      [0, 3],
      [1_020, 1_030],
      [2_500, 2_600],
      [4_990, 9_999],
    ] as const) {
      const filter = { createdFrom: START + first * 1_000, createdTo: START + behind * 1_000 }
      const found = pages(filter)
      assert.deepEqual(found.flat(), downFrom(Math.min(behind, TASKS) - 1, first))
      assert.ok(found.length <= 2)
    }
    assert.deepEqual(pages({ createdFrom: START + TASKS * 1_000 }), [[]])
  })

  it('goes straight to the time of death that is asked for', () => {
    const { pages } = manyTasks({ dead: 3_000 })
    const found = pages({ endedFrom: START + 1_500_000, endedTo: START + 1_600_000 })
    assert.equal(found.flat().length, 4 * 30)
    assert.ok(found.length <= 2)
    assert.deepEqual(pages({ endedFrom: START + 3_000_000 }), [[]])
  })
})
