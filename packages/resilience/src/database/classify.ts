import { isObject, markOf } from '../classify/marks.ts'
import { failure, type Failure } from '../classify/outcome.ts'

/**
 * The database has undone the transaction itself, or never let it begin: nothing of it is left.
 *
 * - SQLSTATE 40001 and 40P01: PostgreSQL ("Serialization Failure Handling"), CockroachDB ("restart transaction"), and
 *   MySQL's name of a deadlock
 * - MySQL 1213 and 1205 ("InnoDB Error Handling"); SQL Server 1205 and, under snapshot isolation, 3960
 * - P2034 and P2024: Prisma's names of a conflict and of a pool without a free connection
 */
const UNDONE = '40001 40P01 ER_LOCK_DEADLOCK ER_LOCK_WAIT_TIMEOUT 1205 1213 3960 P2034 P2024'

/**
 * The connection is gone, or somebody ended it. What had not been committed will be undone by the server; whether a
 * commit on its way arrived is not known.
 *
 * - SQLSTATE class 08, 40003 (completion unknown), 53300 and 57P01 to 57P03 (too many connections, shutting down)
 * - MySQL: 1040, 1053, 2006 and 2013, and what its drivers call them
 * - postgres.js, SQL Server (tedious) and Prisma: words of their own. Network codes are known to the ordinary rules
 */
const LOST =
  '08000 08001 08003 08004 08006 08007 40003 53300 57P01 57P02 57P03 1040 1053 2006 2013 PROTOCOL_CONNECTION_LOST ' +
  'ER_CON_COUNT_ERROR ER_SERVER_SHUTDOWN CONNECTION_CLOSED CONNECTION_ENDED CONNECTION_DESTROYED CONNECT_TIMEOUT ' +
  'ESOCKET ECONNCLOSED P1001 P1002 P1017'

/** For a connection that it lost, `pg` has no code, only these texts. */
const LOST_TEXT = /^(Connection terminated|Client .+ is not queryable|timeout exceeded when trying to connect)/

const NOTHING_LEFT: Failure = { kind: 'failure', fault: 'transient', unsent: true }

const FAILURES: ReadonlyMap<string, Failure> = /* @__PURE__ */ new Map<string, Failure>([
  ...UNDONE.split(' ').map((code): [string, Failure] => [code, NOTHING_LEFT]),
  ...LOST.split(' ').map((code): [string, Failure] => [code, failure('ambiguous')]),
])

/** Errors wrap errors; deeper than this they wrap themselves. */
const DEEPEST_CAUSE = 10

/**
 * What an error of a database, or what caused it, says about its transaction: nothing of it is left (`unsent`), or
 * nobody knows (`ambiguous`). Undefined where it says neither, and the ordinary rules are to be asked.
 */
export function classifyDatabaseError(error: unknown): Failure | undefined {
  for (let depth = 0; depth < DEEPEST_CAUSE && isObject(error); depth++) {
    const found = markOf(error) ?? classifyOne(error)
    if (found !== undefined) return found
    error = read(error, 'cause') ?? read(error, 'original')
  }
  return undefined
}

function classifyOne(error: DatabaseError): Failure | undefined {
  for (const field of ['code', 'sqlState', 'errno', 'number'] as const) {
    const found = FAILURES.get(textOf(read(error, field)))
    if (found !== undefined) return found
  }
  if (isBusySqlite(read(error, 'code'), read(error, 'errcode'))) return NOTHING_LEFT
  const errorLabels = read(error, 'errorLabels')
  const message = read(error, 'message')
  if (Array.isArray(errorLabels)) return classifyLabels(errorLabels)
  return typeof message === 'string' && LOST_TEXT.test(message) ? failure('ambiguous') : undefined
}

/** sqlite.org/rescode.html: BUSY is 5, LOCKED is 6, and what is above the lowest byte says only why. */
function isBusySqlite(code: unknown, errcode: unknown): boolean {
  const primary = typeof errcode === 'number' ? errcode & 0xff : 0
  return primary === 5 || primary === 6 || /^SQLITE_(BUSY|LOCKED)/.test(textOf(code))
}

/** MongoDB's drivers say by a label what may be done about an error (specification "Driver Transactions"). */
function classifyLabels(labels: readonly unknown[]): Failure | undefined {
  if (labels.includes('TransientTransactionError')) return NOTHING_LEFT
  return labels.includes('UnknownTransactionCommitResult') ? failure('ambiguous') : undefined
}

/** What cannot be read says nothing: an error of our own would hide the one that is being looked at. */
function read(error: DatabaseError, field: keyof DatabaseError): unknown {
  try {
    const value = error[field]
    return Array.isArray(value) ? [...value] : value
  } catch {
    return undefined
  }
}

function textOf(said: unknown): string {
  return typeof said === 'string' || typeof said === 'number' ? String(said) : ''
}

/** Where drivers put it: pg, postgres.js, mysql2, tedious, node:sqlite, mongodb; `original` is where Sequelize wraps it. */
interface DatabaseError {
  readonly code?: unknown
  readonly sqlState?: unknown
  readonly errno?: unknown
  readonly number?: unknown
  readonly errcode?: unknown
  readonly errorLabels?: unknown
  readonly message?: unknown
  readonly cause?: unknown
  readonly original?: unknown
}
