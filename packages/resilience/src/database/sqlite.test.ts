import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, onTestFinished } from 'vitest'
import { outcomeOf, scripted, STEADY } from '../retry/scripted.test-kit.ts'
import { retryTransaction, type TransactionHandle } from './retry-transaction.ts'

function openTwice(): [DatabaseSync, DatabaseSync] {
  const folder = mkdtempSync(join(tmpdir(), 'secondwind-'))
  const file = join(folder, 'a.db')
  const open = (): DatabaseSync => new DatabaseSync(file, { timeout: 0 })
  const both: [DatabaseSync, DatabaseSync] = [open(), open()]
  both[0].exec('create table counter (n integer); insert into counter values (0)')
  onTestFinished(() => {
    for (const database of both) database.close()
    rmSync(folder, { recursive: true })
  })
  return both
}

function beginOn(database: DatabaseSync): () => TransactionHandle {
  return () => {
    database.exec('begin immediate')
    return { commit: () => database.exec('commit'), rollback: () => database.exec('rollback') }
  }
}

describe('a real SQLite', () => {
  it('that is busy with another connection is asked again until that one has committed', async () => {
    const { clock, ports, calls } = scripted()
    const [mine, other] = openTwice()
    other.exec('begin immediate; update counter set n = n + 1')
    const end = clock.sleep(250).then(() => other.exec('commit'))
    const begin = beginOn(mine)
    const counted = (): TransactionHandle => {
      calls.push(clock.monotonic())
      return begin()
    }
    const work = (): unknown => mine.prepare('update counter set n = n + 1 returning n').get()
    const { value } = await outcomeOf(clock, retryTransaction(counted, work, STEADY, { ports }))
    await end
    assert.deepEqual(value, Object.assign(Object.create(null), { n: 2 }))
    assert.deepEqual(calls, [0, 100, 300])
  })

  it('keeps nothing of a transaction whose work failed', async () => {
    const { clock, ports } = scripted()
    const [mine, other] = openTwice()
    const work = (): void => {
      mine.exec('update counter set n = 100')
      throw new Error('mine')
    }
    const { error } = await outcomeOf(clock, retryTransaction(beginOn(mine), work, STEADY, { ports }))
    assert.equal((error as Error).message, 'mine')
    assert.equal(other.prepare('select n from counter').get()!['n'], 0)
  })
})
