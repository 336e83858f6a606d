import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
import { causeIdOf } from '../../cause-id.ts'
import { newTask } from '../../conformance/tasks.test-kit.ts'
import { readRowsOfTasks } from '../rows/rows-of-tasks.ts'
import { newRow } from '../rows/task-rows.ts'
import { temporaryDirectory } from '../sqlite.test-kit.ts'
import { createCallbacks } from '../tables/callbacks.ts'
import { createReplays } from '../tables/replays.ts'
import { createTasks } from '../tables/tasks.ts'
import { connect, type Connection } from './connection.ts'
import { migrate, numberOf } from './migrate.ts'
import { MIGRATIONS } from './migrations.ts'

function connection(): Connection {
  const made = connect(join(temporaryDirectory(), 'any.db'), { busyTimeoutMs: 0 })
  onTestFinished(() => made.close())
  return made
}

const versionOf = (of: Connection): number => numberOf(of, 'pragma user_version')

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

  it('file the log of before by its tasks, where an index had it', () => {
    const file = connection()
    migrate(file, 'path', MIGRATIONS.slice(0, 11))
    const insert =
      file.write(`insert into log (log_id, seq, at, status, version, attempt_id, generation, attempt_number,
      lost_count, started_at, previous_delay_ms, expires_at) values (?, ?, 0, 'PENDING', 1, 0, 1, 0, 0, 0, 0, 0)`)
    for (const [logId, seq] of [
      [1, 7],
      [2, 3],
      [5, 7],
    ] as const)
      insert(logId, seq)
    migrate(file, 'path')
    const rows = readRowsOfTasks(file)
    rows.catchUp()
    assert.deepEqual(
      [7, 3, 4].map(seq => rows.newestOf(seq)),
      [5, 2, undefined],
    )
    assert.deepEqual(file.rows('select seq, log_id from filed')(), [
      [3, 2],
      [7, 1],
      [7, 5],
    ])
  })

  it('leave keys of before where they are, and those that come then are loose behind them', () => {
    const file = connection()
    migrate(file, 'path', MIGRATIONS.slice(0, 14))
    const insert = file.write(`insert into task (seq, task_id, lane_id, queue_id, due_at, policy_id, policy_version,
      request_hash, target_url, method, headers, created_at, lease_ms, generation, attempt_number, lost_count, started_at,
      previous_delay_ms, expires_at, idempotency_key) values (?1, ?1, 1, 1, 0, '', 1, '', '', '', '', 0, 0, 1, 0, 0, 0, 0, 0, ?2)`)
    file.exec(`insert into lane (lane_id, key) values (1, 'acme https://a.example')`)
    insert(7, 'order-1')
    file.exec(`insert into idempotency values ('acme order-1', 7)`)
    migrate(file, 'path')
    const tasks = createTasks(file)
    tasks.recall()
    insert(8, 'order-2')
    const seqOfKey = (idempotencyKey: string): number | undefined =>
      tasks.sameAs(newRow(newTask(9, 0, { tenant: 'acme', idempotencyKey })))
    assert.deepEqual(['order-1', 'order-2', 'order-3'].map(seqOfKey), [7, 8, undefined])
  })

  it('leave a file as it was when one of them fails, whichever went well before it', () => {
    const file = connection()
    migrate(file, 'path', [FIRST])
    const failing = [FIRST, SECOND, 'insert into nowhere values (1)']
    assert.throws(() => migrate(file, 'path', failing), {
      code: 'store-corrupt',
      message: /^path is not what a file of format 1 should be \(no such table: nowhere\); it was left as it is/,
    })
    assert.equal(versionOf(file), 1)
    assert.deepEqual(file.rows('select x from a')(), [])
  })

  it('refuse a file that lacks what its format has, before any statement needs it', () => {
    const file = connection()
    migrate(file, 'path')
    file.exec('alter table lane drop column attempts; drop table probe')
    assert.throws(() => migrate(file, 'path'), { code: 'store-corrupt', message: /lacks lane\.attempts, probe\.bytes/ })
  })

  it.each([5, 8])(
    'count what replays have under way in a file of format %i that was made before that was counted',
    format => {
      const file = connection()
      migrate(file, 'path', MIGRATIONS.slice(0, format))
      file.exec(`
      alter table replay drop column under_way;
      insert into replay (replay_id, moved, waiting, sent, failed, succeeded, exhausted, cancelled, recent)
        values ('run', 4, 3, 1, 0, 1, 0, 0, '0'), ('rest', 1, 1, 0, 0, 0, 0, 0, '');
    `)
      const log = file.write(`insert into log (log_id, seq, at, status, version, attempt_id, generation, attempt_number,
      lost_count, started_at, previous_delay_ms, expires_at, replay_id)
      values (?1, ?1, 0, 'PENDING', 2, 0, 2, ?2, 0, 0, 0, 0, ?3)`)
      const lease = file.write(`insert into lease (seq, partition, ends_at, token, queue_id, due_at, state, version,
      cancel_requested) values (?1, 0, 0, '', 1, 0, ?1, 3, 0)`)
      for (const [seq, attemptNumber] of [
        [1, 0],
        [2, 1],
      ] as const) {
        log(seq, attemptNumber, 'run')
        lease(seq)
      }
      migrate(file, 'path')
      assert.deepEqual(createReplays(file).countsOf('run'), {
        moved: 4,
        waiting: 2,
        underWay: 1,
        sent: 1,
        failed: 0,
        succeeded: 1,
        exhausted: 0,
        cancelled: 0,
        recent: '0',
      })
      assert.deepEqual(
        [createReplays(file).countsOf('rest').waiting, createReplays(file).countsOf('rest').underWay],
        [1, 0],
      )
    },
  )

  it('give causes the names of today, put both counts together, and tell plans that ask for one', () => {
    const file = connection()
    migrate(file, 'path', MIGRATIONS.slice(0, 9))
    const timedOut = {
      tenant: 'acme',
      destination: 'https://a.example',
      reason: 'attempts',
      lastAttempt: { errorCode: 'timeout' },
    } as const
    const unsent = { ...timedOut, reason: 'deadline', lastAttempt: undefined } as const
    const [today, todayUnsent] = [causeIdOf(timedOut), causeIdOf(unsent)]
    file.exec(`
      insert into lane (lane_id, key) values (1, 'acme https://a.example');
      insert into cause values
        ('-Old_1', 1, 'acme', 'attempts', null, 'timeout', null, 2, 1000, 2000),
        ('${today}', 1, 'acme', 'attempts', null, 'timeout', null, 1, 3000, 3000),
        ('-Old_2', 1, 'acme', 'deadline', null, null, null, 1, 1500, 1500);
      insert into dead values (1, 1, '-Old_1'), (2, 1, '-Old_1'), (3, 1, '${today}'), (4, 1, '-Old_2');
      insert into record values
        ('replay', 'r1', 'acme', 1, '{"filter":{"causeId":"-Old_1"},"status":"PLANNED"}', 0, 0),
        ('replay', 'r2', 'acme', 1, '{"filter":{"destination":"https://a.example"}}', 0, 0);
    `)
    migrate(file, 'path')
    assert.deepEqual(file.rows('select cause_id, tasks, first_at, last_at from cause order by tasks')(), [
      [todayUnsent, 1, 1_500, 1_500],
      [today, 3, 1_000, 3_000],
    ])
    assert.deepEqual(file.rows('select cause_id from dead order by seq')(), [[today], [today], [today], [todayUnsent]])
    assert.deepEqual(file.rows('select document from record order by id')(), [
      [`{"filter":{"causeId":"${today}"},"status":"PLANNED"}`],
      ['{"filter":{"destination":"https://a.example"}}'],
    ])
  })
})
