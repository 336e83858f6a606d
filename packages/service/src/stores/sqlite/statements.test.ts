import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { Connection } from './connection.ts'
import { endsToTell } from './ends.ts'
import { openFile } from './file.ts'
import { listReader } from './list.ts'
import { overviewReader } from './overview.ts'
import { taskReader } from './read.ts'
import { recordReader } from './records.ts'
import { temporaryDirectory } from './sqlite.test-kit.ts'
import { createVerbs } from './verbs.ts'
import { createTurns } from './walk.ts'
import { createWriter } from './writer.ts'

/** Tables that stay small, whatever the number of tasks. `lane` is read whole once, for the sums that beats tell. */
const SMALL = ['lease', 'store', 'json_each', 'lane', 'probe', 'CONSTANT']

describe('no statement', () => {
  it('looks through a table that grows with the tasks, or sorts rows of one', async () => {
    const { connection, close } = openFile({ directory: temporaryDirectory() })
    const statements: string[] = []
    const noting: Connection = {
      ...connection,
      rows: sql => (statements.push(sql), connection.rows(sql)),
      objects: sql => (statements.push(sql), connection.objects(sql)),
      row: sql => (statements.push(sql), connection.row(sql)),
      write: sql => (statements.push(sql), connection.write(sql)),
      change: sql => (statements.push(sql), connection.change(sql)),
    }
    const verbs = createVerbs(createWriter(noting))
    verbs.beat({ instance: 'a', largeFrom: { tasks: 1, lanes: 1 } })
    const turns = createTurns()
    for (const reader of [taskReader, recordReader, endsToTell]) reader(noting)
    const overview = overviewReader(noting, turns)
    overview.lanes({ tenant: 'a', limit: 1 })
    overview.lanes({ destination: 'a', limit: 1 })
    await overview.causes({ tenant: 'a', destination: 'b', limit: 1 })
    // A list prepares a statement for the fields of its filter.
    const filter = {
      tenant: 'a',
      destination: 'b',
      policyId: 'c',
      attemptFrom: 1,
      errorCode: 'd',
      createdFrom: 1,
      createdTo: 2,
    }
    await listReader(noting, turns)({ filter, order: 'newest-first', limit: 1 })

    assert.ok(statements.length > 60, `${statements.length} statements`)
    for (const sql of statements) {
      const plan = connection.rows<[number, number, number, string]>(`explain query plan ${sql}`)()
      const steps = plan.map(([, , , step]) => step)
      const scanned = steps.flatMap(step => /^SCAN (\w+)\b(?! USING)/.exec(step)?.[1] ?? [])
      const isOfLeases = steps.some(step => / lease\b/.test(step))
      const bad = [
        ...scanned.filter(table => !SMALL.includes(table)),
        ...steps.filter(step => step.includes('TEMP B-TREE') && !isOfLeases),
      ]
      assert.deepEqual(bad, [], sql)
    }
    close()
  })
})
