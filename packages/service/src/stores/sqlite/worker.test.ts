import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { LANE, newTask, PARTITION, QUEUE, TENANT } from '../exam/tasks.test-kit.ts'
import { queueKey } from '../../task/lane.ts'
import { openInMemory } from './file.ts'
import { newRow } from './rows.ts'
import { createWorker, type Call, type Outcome } from './worker.ts'
import { createWriter } from './writer.ts'

function setting() {
  const connection = openInMemory()
  const run = createWorker(createWriter(connection), ':memory:')
  const commit = (...calls: Call[]): Outcome[] => [...run({ now: 1_000, calls }).outcomes]
  const enqueue = (number: number): Call => ['enqueue', [newRow(newTask(number, 1_000))]]
  const count = (table: string): number => connection.row<[number]>(`select count(*) from ${table}`)()?.[0] ?? -1
  return { connection, run, commit, enqueue, count }
}

/** A record without a name: a statement of ours would refuse it. */
const WRONG: Call = [
  'write',
  { writes: [{ kind: 'control', id: null as unknown as string, tenant: TENANT, document: {} }] },
]
const BEAT: Call = ['beat', { instance: 'one', largeFrom: { tasks: 1, lanes: 1 } }]

describe('a batch in which one call fails', () => {
  it('does the others, before and behind it', () => {
    const { commit, enqueue, count } = setting()
    const outcomes = commit(enqueue(1), enqueue(2), WRONG, enqueue(3), enqueue(4))
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['done', 'done', 'failed', 'done', 'done'],
    )
    assert.deepEqual([count('task'), count('request'), count('due')], [4, 4, 4])
  })

  it('forgets nothing and counts nothing twice after a call that failed half-way', () => {
    const { commit, enqueue, connection } = setting()
    const pending = (): unknown => {
      const [outcome] = commit(BEAT)
      assert.ok(outcome?.kind === 'done')
      return (outcome.answer as { waiting: { tasks: { PENDING: number } } }).waiting.tasks.PENDING
    }
    commit(enqueue(1))
    assert.equal(pending(), 1)
    commit(enqueue(2), WRONG)
    commit(WRONG)
    commit(enqueue(3))
    assert.equal(pending(), 3)
    assert.deepEqual(connection.rows('select pending from lane')(), [[3]])
    assert.deepEqual(connection.rows('select seq from task order by seq')(), [[1], [2], [3]])
  })

  it('gives the hints of the calls that were done', () => {
    const { run, enqueue } = setting()
    const { hints } = run({ now: 1_000, calls: [enqueue(1), WRONG] })
    assert.deepEqual(hints, [{ partition: PARTITION, lane: LANE, queue: queueKey(QUEUE), dueAt: 1_000 }])
  })
})
