import assert from 'node:assert/strict'
import { chmodSync, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
import { temporaryDirectory } from '../sqlite.test-kit.ts'
import { createCallbacks } from '../tables/callbacks.ts'
import { connect, type Connection } from './connection.ts'
import { DATA_FILE, migrate, openFile } from './file.ts'
import { MIGRATIONS } from './migrations.ts'

function connection(): Connection {
  const made = connect(join(temporaryDirectory(), 'any.db'), { busyTimeoutMs: 0 })
  onTestFinished(() => made.close())
  return made
}

const versionOf = (of: Connection): number => of.row<[number]>('pragma user_version')()![0]

describe('the data file', () => {
  it('is for nobody else on the machine', () => {
    const directory = join(temporaryDirectory(), 'deep', 'data')
    openFile({ directory }).close()
    assert.equal(statSync(directory).mode & 0o077, 0)
    const shared = temporaryDirectory()
    chmodSync(shared, 0o755)
    openFile({ directory: shared }).close()
    assert.equal(statSync(join(shared, DATA_FILE)).mode & 0o077, 0)
  })

  it('is refused at once where no directory can be made', { skip: !existsSync('/proc/self') }, () => {
    assert.throws(() => openFile({ directory: '/proc/x' }), { code: 'store-unreachable' })
  })

  it('is in the newest format after it was opened, and stays as it is when opened again', () => {
    const directory = temporaryDirectory()
    openFile({ directory }).close()
    const { connection: again, close } = openFile({ directory })
    assert.equal(versionOf(again), MIGRATIONS.length)
    close()
  })

  it('has a log that is on the disk before it is moved into the file', () => {
    const { connection: opened, close } = openFile({ directory: temporaryDirectory() })
    assert.deepEqual(opened.row('pragma journal_mode')(), ['wal'])
    assert.deepEqual(opened.row('pragma synchronous')(), [1])
    close()
  })
})

describe('migrations', () => {
  const FIRST = 'create table a (x)'
  const SECOND = 'create table b (y); insert into a values (2)'

  it('apply what a file lacks, each once and in order', () => {
    const file = connection()
    migrate(file, 'path', [FIRST])
    assert.equal(versionOf(file), 1)
    migrate(file, 'path', [FIRST, SECOND])
    migrate(file, 'path', [FIRST, SECOND])
    assert.equal(versionOf(file), 2)
    assert.deepEqual(file.rows('select x from a')(), [[2]])
  })

  it('date leases that were made before their beginning was kept, and none before its task', () => {
    const file = connection()
    migrate(file, 'path', MIGRATIONS.slice(0, 1))
    const insert = file.write(`insert into task (seq, task_id, lane_id, queue_id, due_at, policy_id, policy_version,
      request_hash, target_url, method, headers, created_at, lease_ms, generation, attempt_number, lost_count, started_at,
      previous_delay_ms, expires_at) values (?1, ?1, 1, 1, 0, '', 1, '', '', '', '', 5000, 30000, 1, 0, 0, 0, 0, 0)`)
    const lease = file.write(`insert into lease values (?, 0, ?, '', 1, 0, 0, 1, 0)`)
    for (const [seq, endsAt] of [
      [1, 36_000],
      [2, 6_000],
    ] as const) {
      insert(seq)
      lease(seq, endsAt)
    }
    migrate(file, 'path')
    assert.deepEqual(file.rows('select seq, claimed_at from lease')(), [
      [1, 6_000],
      [2, 5_000],
    ])
  })

  it('give callbacks that were due before they had lanes one each, so that all are found', () => {
    const file = connection()
    migrate(file, 'path', MIGRATIONS.slice(0, 7))
    const insert = file.write(`insert into callback (task_id, generation, tenant, callback_url, status, attempt_number)
      values (?, 1, 'acme', ?, 'SUCCEEDED', 1)`)
    for (const taskId of ['first', 'second']) insert(taskId, `https://told.example/${taskId}`)
    migrate(file, 'path')
    const { items } = createCallbacks(file).due({ limit: 10, perLane: 1 })
    assert.deepEqual(
      items.map(({ taskId }) => taskId),
      ['first', 'second'],
    )
  })

  it('leave a file as it was when one of them fails', () => {
    const path = join(temporaryDirectory(), 'any.db')
    const file = connect(path, { busyTimeoutMs: 0 })
    migrate(file, path, [FIRST])
    assert.throws(() => migrate(file, path, [FIRST, `${SECOND}; insert into nowhere values (1)`]))
    file.close()
    const again = connect(path, { busyTimeoutMs: 0 })
    assert.equal(versionOf(again), 1)
    assert.deepEqual(again.rows('select x from a')(), [])
    again.close()
  })
})
