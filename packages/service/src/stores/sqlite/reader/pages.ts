import { laneKey, laneOf } from '../../../task/lane.ts'
import type { GateReason } from '../../../task/lane-view.ts'
import type { AttemptRow } from '../../../task/task.ts'
import type {
  AttemptsPage,
  Cause,
  CausesPage,
  LaneCounters,
  LaneMemory,
  LaneRecord,
  LanesPage,
  PartitionPage,
  PoliciesPage,
  PolicyRecord,
  VersionsPage,
} from '../../task-store.ts'
import { bytesOfAttempt, fitting } from '../../page-bytes.ts'
import type { Connection } from '../file/connection.ts'
import { ATTEMPT_COLUMNS, attemptOf, type AttemptValues } from '../rows/attempt-rows.ts'
import { policyOf, POLICY_COLUMNS, type PolicyRow } from '../rows/policy-rows.ts'
import { ROWS_OF_TASK, type RowsOfTasks } from '../rows/rows-of-tasks.ts'
import { cut, shortened, type From, type Slice } from '../rows/slice.ts'
import { merge } from './merge.ts'
import { behindLanesOf, createTenants } from './tenants.ts'

/** Lists that are one statement each, from behind a place on. */
export interface Pages {
  attempts(ask: From<AttemptsPage, [logId: number]>): Slice<AttemptRow, [number]>
  causes(ask: From<CausesPage, CausePlace>): Slice<Cause, CausePlace>
  laneCounters(ask: From<LanesPage, [lane: string]>): Slice<LaneCounters, [string]>
  memories(ask: From<PartitionPage, [lane: string]>): Slice<LaneRecord, [string]>
  policies(ask: From<PoliciesPage, [policyId: string]>): Slice<PolicyRecord, [string]>
  policyVersions(ask: From<VersionsPage, [version: number]>): Slice<PolicyRecord, [number]>
}

export function createPages(connection: Connection, rows: RowsOfTasks): Pages {
  return {
    attempts: attemptPages(connection, rows),
    causes: causePages(connection),
    laneCounters: lanePages(connection),
    memories: memoryPages(connection),
    policies: policyPages(connection),
    policyVersions: versionPages(connection),
  }
}

function attemptPages(connection: Connection, rows: RowsOfTasks): Pages['attempts'] {
  const readSeq = connection.row<[number]>('select seq from task where task_id = ?')
  const readIds = connection.rows<[logId: number]>(
    `select log_id from log where log_id in (${ROWS_OF_TASK}) and log_id > ?3 and outcome is not null
     order by log_id limit ?4`,
  )
  // One by one: together they may be more than a page holds.
  const read = connection.row<[number, ...AttemptValues]>(
    `select generation, ${ATTEMPT_COLUMNS} from log where log_id = ?`,
  )
  return ({ taskId, from = [0], limit }) => {
    const seq = readSeq(taskId)?.[0] ?? 0
    const found = cut(readIds(seq, rows.looseOf(seq), ...from, limit + 1), limit, id => id)
    const readOne = (id: [number]): AttemptRow => {
      const [generation, ...values] = read(...id)!
      return attemptOf(taskId, generation, values)
    }
    return shortened(found, fitting(found.items, readOne, bytesOfAttempt), id => id)
  }
}

type CauseRow = [
  causeId: string,
  lane: string,
  reason: Cause['reason'],
  heldBy: GateReason | null,
  responseStatus: number | null,
  errorCode: string | null,
  errorMessage: string | null,
  count: number,
  firstAt: number,
  lastAt: number,
]

/** So many are enough to see what a cause is about. */
const MOST_SAMPLES = 3

function causePages(connection: Connection): Pages['causes'] {
  const readBy = (where: string) =>
    connection.rows<CauseRow>(
      `select cause_id, lane.key, reason, held_by, response_status, error_code, error_message, tasks, first_at, last_at
       from cause join lane using (lane_id)
       where ${where} and tasks <= ?2 and (tasks < ?2 or cause_id > ?3) order by tasks desc, cause_id limit ?4`,
    )
  const ofTenant = readBy('tenant = ?1')
  const ofLane = readBy('lane_id = (select lane_id from lane where key = ?1)')
  const readSamples = connection.rows<[string]>(
    `select task_id from dead join task using (seq) where cause_id = ? order by seq desc limit ${MOST_SAMPLES}`,
  )
  const tenants = createTenants(connection)
  const isBefore = (one: CauseRow, other: CauseRow): boolean =>
    countIn(one) > countIn(other) || (countIn(one) === countIn(other) && one[0] < other[0])
  const causeOf = (row: CauseRow): Cause => {
    const [causeId, lane, reason, heldBy, responseStatus, errorCode, errorMessage, count, firstAt, lastAt] = row
    return {
      causeId,
      ...laneOf(lane),
      reason,
      ...(heldBy !== null && { heldBy }),
      ...(responseStatus !== null && { responseStatus }),
      ...(errorCode !== null && { errorCode }),
      ...(errorMessage !== null && { errorMessage }),
      count,
      firstAt,
      lastAt,
      sampleTaskIds: readSamples(causeId).map(([taskId]) => taskId),
    }
  }
  return ({ tenant, destination, from: first = [Number.MAX_SAFE_INTEGER, ''], limit }) => {
    const readOf = (owner: string, from: CausePlace, most: number): CauseRow[] =>
      destination === undefined
        ? ofTenant(owner, ...from, most)
        : ofLane(laneKey({ tenant: owner, destination }), ...from, most)
    const nextOf = (owner: string, last?: CauseRow): CauseRow | undefined =>
      readOf(owner, last === undefined ? first : placeOf(last), 1)[0]
    const found =
      tenant === undefined
        ? merge([...tenants()], { nextOf, isBefore, most: limit + 1 })
        : readOf(tenant, first, limit + 1)
    const { items, next } = cut(found, limit, placeOf)
    return { items: items.map(causeOf), next }
  }
}

type CausePlace = [tasks: number, causeId: string]

function placeOf(row: CauseRow): CausePlace {
  return [countIn(row), row[0]]
}

function countIn(row: CauseRow): number {
  return row[7]
}

/** Behind every name: no text has a later first character. */
export const BEHIND_ALL = '\u{10FFFF}'

function lanePages(connection: Connection): Pages['laneCounters'] {
  const columns = 'key, pending, in_flight, succeeded, exhausted, cancelled, attempts, first_attempts'
  type Row = [string, number, number, number, number, number, number, number]
  const read = connection.rows<Row>(`select ${columns} from lane where key > ? and key < ? order by key limit ?`)
  const readOne = connection.rows<Row>(`select ${columns} from lane where key = ?`)
  const tenants = createTenants(connection)
  /** Of these, which come in order of name. */
  const readEach = (lanes: Iterable<string>, [after, behind, most]: readonly [string, string, number]): Row[] => {
    const rows: Row[] = []
    for (const lane of lanes) {
      if (rows.length === most || lane >= behind) break
      if (lane > after) rows.push(...readOne(lane))
    }
    return rows
  }
  function* lanesTo(destination: string, after: string): Generator<string> {
    for (const tenant of tenants(after)) yield laneKey({ tenant, destination })
  }
  return ({ tenant, lanes: wanted, destination, from, limit }) => {
    const [first, behind] = tenant === undefined ? ['', BEHIND_ALL] : [`${tenant} `, behindLanesOf(tenant)]
    // A place that somebody made up leads to nobody else's lanes.
    const after = from !== undefined && from[0] > first ? from[0] : first
    const range = [after, behind, limit + 1] as const
    const named = destination === undefined ? wanted?.toSorted() : lanesTo(destination, after)
    const rows = named === undefined ? read(...range) : readEach(named, range)
    const { items, next } = cut(rows, limit, ([lane]) => [lane] as [string])
    return {
      items: items.map(([lane, pending, inFlight, succeeded, exhausted, cancelled, attempts, firstAttempts]) => ({
        lane,
        pending,
        inFlight,
        succeeded,
        exhausted,
        cancelled,
        attempts,
        firstAttempts,
      })),
      next,
    }
  }
}

function memoryPages(connection: Connection): Pages['memories'] {
  const read = connection.rows<[string, string]>(
    'select lane, memory from memory where partition = ? and lane > ? order by lane limit ?',
  )
  return ({ partition, from = [''], limit }) => {
    const { items, next } = cut(read(partition, ...from, limit + 1), limit, ([lane]) => [lane] as [string])
    return { items: items.map(([lane, memory]) => ({ lane, memory: JSON.parse(memory) as LaneMemory })), next }
  }
}

function policyPages(connection: Connection): Pages['policies'] {
  // SQLite's own rule: beside max() the other columns are of the row that has it.
  const read = connection.rows<PolicyRow>(
    `select tenant, policy_id, max(version), document, created_at from policy
     where tenant = ? and policy_id > ? group by tenant, policy_id limit ?`,
  )
  return ({ tenant, from = [''], limit }) => {
    const { items, next } = cut(read(tenant, ...from, limit + 1), limit, ([, policyId]) => [policyId] as [string])
    return { items: items.map(policyOf), next }
  }
}

function versionPages(connection: Connection): Pages['policyVersions'] {
  const read = connection.rows<PolicyRow>(
    `select ${POLICY_COLUMNS} from policy
     where tenant = ? and policy_id = ? and version < ? order by version desc limit ?`,
  )
  return ({ tenant, policyId, from = [Number.MAX_SAFE_INTEGER], limit }) => {
    const found = read(tenant, policyId, ...from, limit + 1)
    const { items, next } = cut(found, limit, ([, , version]) => [version] as [number])
    return { items: items.map(policyOf), next }
  }
}
