import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it, onTestFinished } from 'vitest'
import type { Connection } from '../file/connection.ts'
import { openFile } from '../file/file.ts'
import { NO_ATTEMPT, type AttemptValues } from '../rows/attempt-rows.ts'
import { readRowsOfTasks, ROWS_OF_TASK, type RowsOfTasks } from '../rows/rows-of-tasks.ts'
import { temporaryDirectory } from '../sqlite.test-kit.ts'
import { createLog, type Log } from './log.ts'

const TASKS = 12
const FILED_TOGETHER = 5

const ATTEMPT: AttemptValues = [1, 0, 1, 'success', 200, null, null, null]

/** A log, and what it should hold: of each task the rows, and the newest of them. */
class Exam {
  readonly connection: Connection
  readonly rows: RowsOfTasks
  readonly log: Log
  model: ReadonlyMap<number, readonly number[]> = new Map()

  constructor(connection: Connection) {
    this.connection = connection
    this.rows = readRowsOfTasks(connection)
    this.log = createLog(connection, this.rows, FILED_TOGETHER)
    this.log.recall()
  }

  transact(change: () => void, isKept: boolean): void {
    const { model } = this
    this.connection.exec('begin immediate')
    this.log.begin()
    change()
    this.log.flush()
    this.connection.exec(isKept ? 'commit' : 'rollback')
    if (isKept) return
    this.model = model
    this.log.forget()
    this.log.recall()
  }

  append(seq: number, attempt: AttemptValues): void {
    const standing = {
      at: 0,
      status: 'PENDING',
      reason: null,
      heldBy: null,
      queueId: null,
      dueAt: null,
      version: 1,
    } as const
    const before = this.model.get(seq) ?? []
    const previous = before.at(-1) ?? 0
    const isReplaced = attempt === NO_ATTEMPT && previous !== 0 && this.log.attemptIdOf(previous) !== previous
    const settled = { token: null, settledAs: null, progress: [1, 1, 0, 0, 0, 0, null] } as const
    const logId = this.log.append({ seq, ...standing, ...settled, previous, attempt })
    this.model = new Map([...this.model, [seq, [...(isReplaced ? before.slice(0, -1) : before), logId]]])
  }

  remove(seq: number): void {
    this.log.remove(seq)
    this.model = new Map([...this.model].filter(([task]) => task !== seq))
  }

  /** As whoever reads finds it, this one and one that comes later. */
  check(): void {
    const later = readRowsOfTasks(this.connection)
    later.catchUp()
    const read = this.connection.rows<[number]>(
      `select log_id from log where log_id in (${ROWS_OF_TASK}) order by log_id`,
    )
    for (const rows of [this.rows, later])
      for (let seq = 1; seq <= TASKS; seq++) {
        const expected = this.model.get(seq) ?? []
        assert.equal(rows.newestOf(seq), expected.at(-1))
        assert.deepEqual(
          read(seq, rows.looseOf(seq)),
          expected.map(logId => [logId]),
        )
      }
    const stray = this.connection.rows('select * from filed where log_id not in (select log_id from log)')
    assert.deepEqual(stray(), [])
  }
}

const anySeq = fc.integer({ min: 1, max: TASKS })
const anyChange = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('attempt' as const), seq: anySeq }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('no-attempt' as const), seq: anySeq }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), seq: anySeq }) },
)
const anyTransaction = fc.record({
  changes: fc.array(anyChange, { maxLength: 8 }),
  isKept: fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  isReopened: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
})

describe('rows of the log', () => {
  it('are found by their task, filed or loose, whatever was removed, rolled back or opened anew meanwhile', () => {
    fc.assert(
      fc.property(fc.array(anyTransaction, { maxLength: 30 }), transactions => {
        const { connection, close } = openFile({ directory: temporaryDirectory() })
        let exam = new Exam(connection)
        for (const { changes, isKept, isReopened } of transactions) {
          if (isReopened) {
            const { model } = exam
            exam = new Exam(connection)
            exam.model = model
          }
          exam.transact(() => {
            for (const { kind, seq } of changes)
              if (kind === 'remove') exam.remove(seq)
              else exam.append(seq, kind === 'attempt' ? ATTEMPT : NO_ATTEMPT)
          }, isKept)
          exam.check()
        }
        close()
      }),
      { numRuns: 40 },
    )
  })

  it('are filed as they come: no more than three lots of them are ever loose', () => {
    const { connection, close } = openFile({ directory: temporaryDirectory() })
    onTestFinished(close)
    const exam = new Exam(connection)
    for (let n = 0; n < 100; n++) {
      exam.transact(() => exam.append(1 + (n % TASKS), ATTEMPT), true)
      assert.ok(exam.rows.loose.upTo - exam.rows.loose.filedUpTo <= 3 * FILED_TOGETHER)
    }
    assert.ok(exam.rows.loose.filedUpTo > 100 - 3 * FILED_TOGETHER)
  })

  it('come to be filed however often the process is started anew before a lot is', () => {
    const { connection, close } = openFile({ directory: temporaryDirectory() })
    onTestFinished(close)
    for (let n = 0; n < 100; n++) {
      const exam = new Exam(connection)
      exam.transact(() => exam.append(1 + (n % TASKS), ATTEMPT), true)
      assert.ok(exam.rows.loose.upTo - exam.rows.loose.filedUpTo <= 3 * FILED_TOGETHER)
    }
  })

  it('are not read again when a transaction fails', () => {
    const { connection, close } = openFile({ directory: temporaryDirectory() })
    onTestFinished(close)
    const exam = new Exam(connection)
    for (let n = 1; n <= 4; n++) exam.transact(() => exam.append(n, ATTEMPT), true)
    // Whoever reads them all finds none any more.
    connection.exec('delete from log where log_id < 4')
    exam.transact(() => exam.append(1, ATTEMPT), false)
    assert.deepEqual(
      [1, 2, 3].map(seq => exam.rows.newestOf(seq)),
      [1, 2, 3],
    )
  })
})
