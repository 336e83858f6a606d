import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { Connection } from './file/connection.ts'
import { openFile } from './file/file.ts'
import { createDeadLetterList } from './reader/dead-letters.ts'
import { createList } from './reader/list.ts'
import { createOperatorPages } from './reader/operator-pages.ts'
import { createPages } from './reader/pages.ts'
import { readRowsOfTasks } from './rows/rows-of-tasks.ts'
import { temporaryDirectory } from './sqlite.test-kit.ts'
import { createWriter } from './writer/writer.ts'

/** Tables that stay small, whatever the number of tasks; `named` are the names of a tenant's policies. */
const SMALL = ['lease', 'store', 'json_each', 'CONSTANT', 'named']

describe('no statement', () => {
  it('looks through a table that grows with the tasks, or sorts what it found there', () => {
    const { connection, close } = openFile({ directory: temporaryDirectory() })
    const statements: string[] = []
    const noting: Connection = {
      ...connection,
      rows: sql => (statements.push(sql), connection.rows(sql)),
      row: sql => (statements.push(sql), connection.row(sql)),
      write: sql => (statements.push(sql), connection.write(sql)),
      change: sql => (statements.push(sql), connection.change(sql)),
    }
    createWriter(noting)
    const rows = readRowsOfTasks(noting)
    createPages(noting, rows)
    createOperatorPages(noting)
    createList(noting, rows)
    createDeadLetterList(noting, rows)
    assert.ok(statements.length > 60)
    for (const sql of statements) {
      const plan = connection.rows<[number, number, number, string]>(`explain query plan ${sql}`)()
      const steps = plan.map(([, , , step]) => step)
      const scanned = steps.flatMap(step => /^SCAN (\w+)/.exec(step)?.[1] ?? [])
      const isOfLeases = scanned.includes('lease')
      const bad = [
        ...scanned.filter(table => !SMALL.includes(table)),
        ...steps.filter(step => step.includes('TEMP B-TREE') && !isOfLeases),
      ]
      assert.deepEqual(bad, [], sql)
    }
    close()
  })
})
