import type { Waiting } from '../../../task/backlog.ts'
import { laneOf, partitionOf } from '../../../task/lane.ts'
import type { TaskStatus } from '../../../task/task.ts'
import type { Connection } from '../file/connection.ts'
import { queueIdsOf } from '../rows/queue-id.ts'

/** A lane as the writer knows it: its number and what is counted. */
export interface LaneEntry {
  readonly laneId: number
  readonly key: string
  readonly partition: number
  readonly tenant: TenantEntry
  readonly queues: Map<string, QueueEntry>
  readonly tasks: { [status in TaskStatus]: number }
  attempts: number
  firstAttempts: number
}

/** What is counted of a tenant, over all its lanes. */
interface TenantEntry {
  pending: number
  /** Lanes with a task that waits or is under way. */
  openLanes: number
}

export interface QueueEntry {
  readonly queueId: number
  readonly key: string
  readonly lane: LaneEntry
}

/** Names are looked up once and remembered, and so are counts: they are written once per commit, not once per task. */
export interface Lanes {
  /** Undefined for one that never had a task. */
  find(lane: string): LaneEntry | undefined
  findQueue(lane: string, queue: string): QueueEntry | undefined
  /** What waits already when a task of this lane comes, new or not. */
  waitingBeside(lane: string): Waiting
  /** Makes the lane or the queue if it is new. */
  queueOf(lane: string, queue: string): QueueEntry
  queueBy(queueId: number): QueueEntry
  /** A task of the lane is no longer `from` but `to`. From null: it is new; to null: it is forgotten. */
  move(lane: LaneEntry, from: TaskStatus | null, to: TaskStatus | null): void
  countAttempt(lane: LaneEntry, isFirst: boolean): void
  /** In order of their numbers, whether or not they have tasks. */
  walk(behind: number, limit: number): LaneEntry[]
  hasTasks(lane: LaneEntry): boolean
  remove(lane: LaneEntry): void
  readonly totals: { readonly [status in TaskStatus]: number }
  /** Writes what was counted. */
  flush(): void
  /** Drops what is remembered: it was never committed. */
  forget(): void
  /** Reads what must be known before anything else. */
  recall(): void
}

type LaneRow = [number, string, number, number, number, number, number, number, number]
type CountsRow = [number, number, number, number, number]
type TotalsRow = [...CountsRow, openLanes: number]

/** Enough for every lane that is busy at once; a miss costs a few microseconds. */
const MOST_REMEMBERED = 20_000

export function createLanes(connection: Connection): Lanes {
  const columns = 'lane_id, key, pending, in_flight, succeeded, exhausted, cancelled, attempts, first_attempts'
  const readByKey = connection.row<LaneRow>(`select ${columns} from lane where key = ?`)
  const readById = connection.row<LaneRow>(`select ${columns} from lane where lane_id = ?`)
  const insert = connection.row<[number]>('insert into lane (key) values (?) returning lane_id')
  const update = connection.write(
    `update lane set pending = ?, in_flight = ?, succeeded = ?, exhausted = ?, cancelled = ?, attempts = ?,
       first_attempts = ? where lane_id = ?`,
  )
  const readTenant = connection.row<[number, number]>(
    `select coalesce(sum(pending), 0), coalesce(sum(${IS_OPEN}), 0) from lane where key > ? and key < ?`,
  )
  const readQueue = connection.row<[number]>('select queue_id from queue where lane_id = ? and key = ?')
  const readQueueById = connection.row<[number, string]>('select lane_id, key from queue where queue_id = ?')
  const lastQueueId = connection.row<[number | null]>(
    'select max(queue_id) from queue where queue_id >= ? and queue_id < ?',
  )
  const insertQueue = connection.write('insert into queue (queue_id, lane_id, key) values (?, ?, ?)')
  const walk = connection.rows<[number]>('select lane_id from lane where lane_id > ? order by lane_id limit ?')
  const anyTask = connection.row<[number]>('select 1 from task where lane_id = ? limit 1')
  const removeQueues = connection.write('delete from queue where lane_id = ?')
  const removeLane = connection.write('delete from lane where lane_id = ?')
  const readTotals = connection.row<TotalsRow>(
    'select pending, in_flight, succeeded, exhausted, cancelled, open_lanes from store',
  )
  const updateTotals = connection.write(
    'update store set pending = ?, in_flight = ?, succeeded = ?, exhausted = ?, cancelled = ?, open_lanes = ?',
  )

  const byKey = new Map<string, LaneEntry>()
  const byId = new Map<number, LaneEntry>()
  const tenants = new Map<string, TenantEntry>()
  const queuesById = new Map<number, QueueEntry>()
  const changed = new Set<LaneEntry>()
  let totals = countsOf([0, 0, 0, 0, 0])
  let openLanes = 0

  // Summed up before anything of the tenant is counted here: what is written and what is counted agree at that moment.
  const tenantOf = (lane: string): TenantEntry => {
    const { tenant } = laneOf(lane)
    let entry = tenants.get(tenant)
    if (entry !== undefined) return entry
    const [pending, open] = readTenant(...lanesOf(tenant))!
    tenants.set(tenant, (entry = { pending, openLanes: open }))
    return entry
  }
  const remember = (row: LaneRow | undefined): LaneEntry | undefined => {
    if (row === undefined) return undefined
    const [laneId, key, ...counts] = row
    const [, , , , , attempts, firstAttempts] = counts
    const partition = partitionOf(key)
    const [tenant, tasks] = [tenantOf(key), countsOf(counts)]
    const lane = { laneId, key, partition, tenant, queues: new Map(), tasks, attempts, firstAttempts }
    byKey.set(key, lane)
    byId.set(laneId, lane)
    return lane
  }
  const rememberQueue = (lane: LaneEntry, key: string, queueId: number): QueueEntry => {
    const queue = { queueId, key, lane }
    lane.queues.set(key, queue)
    queuesById.set(queueId, queue)
    return queue
  }
  const find = (key: string): LaneEntry | undefined => byKey.get(key) ?? remember(readByKey(key))
  const findIn = (lane: LaneEntry, key: string): QueueEntry | undefined => {
    const known = lane.queues.get(key)
    if (known !== undefined) return known
    const row = readQueue(lane.laneId, key)
    return row && rememberQueue(lane, key, row[0])
  }
  const make = (key: string): LaneEntry => remember([insert(key)![0], key, 0, 0, 0, 0, 0, 0, 0])!
  const makeQueue = (lane: LaneEntry, key: string): QueueEntry => {
    const [first, behind] = queueIdsOf(lane.partition)
    const queueId = (lastQueueId(first, behind)?.[0] ?? first) + 1
    insertQueue(queueId, lane.laneId, key)
    return rememberQueue(lane, key, queueId)
  }

  // Tenants are few, and what is known of them was added up.
  const forgetLanes = (): void => {
    for (const memory of [byKey, byId, queuesById, changed]) memory.clear()
  }

  return {
    find,
    findQueue(laneName, key) {
      const lane = find(laneName)
      return lane && findIn(lane, key)
    },
    waitingBeside(laneName) {
      const lane = find(laneName)
      const tenant = lane?.tenant ?? tenantOf(laneName)
      const lanes = { isOpen: lane !== undefined && isOpen(lane), ofTenant: tenant.openLanes, inAll: openLanes }
      return { ofLane: lane?.tasks.PENDING ?? 0, ofTenant: tenant.pending, inAll: totals.PENDING, lanes }
    },
    queueOf(laneName, key) {
      const lane = find(laneName) ?? make(laneName)
      return findIn(lane, key) ?? makeQueue(lane, key)
    },
    queueBy(queueId) {
      const known = queuesById.get(queueId)
      if (known !== undefined) return known
      const [laneId, key] = readQueueById(queueId)!
      return rememberQueue(byId.get(laneId) ?? remember(readById(laneId))!, key, queueId)
    },
    move(lane, from, to) {
      const wasOpen = isOpen(lane)
      if (from !== null) {
        lane.tasks[from]--
        totals[from]--
        if (from === 'PENDING') lane.tenant.pending--
      }
      if (to !== null) {
        lane.tasks[to]++
        totals[to]++
        if (to === 'PENDING') lane.tenant.pending++
      }
      const opened = Number(isOpen(lane)) - Number(wasOpen)
      lane.tenant.openLanes += opened
      openLanes += opened
      changed.add(lane)
    },
    countAttempt(lane, isFirst) {
      lane.attempts++
      if (isFirst) lane.firstAttempts++
      changed.add(lane)
    },
    walk: (behind, limit) => walk(behind, limit).map(([laneId]) => byId.get(laneId) ?? remember(readById(laneId))!),
    // By the tasks themselves: a count that is wrong must not cost one.
    hasTasks: ({ laneId }) => anyTask(laneId) !== undefined,
    remove(lane) {
      removeQueues(lane.laneId)
      removeLane(lane.laneId)
      for (const { queueId } of lane.queues.values()) queuesById.delete(queueId)
      byKey.delete(lane.key)
      byId.delete(lane.laneId)
      changed.delete(lane)
    },
    get totals() {
      return totals
    },
    flush() {
      if (changed.size === 0) return
      for (const { tasks, attempts, firstAttempts, laneId } of changed)
        update(...valuesOf(tasks), attempts, firstAttempts, laneId)
      updateTotals(...valuesOf(totals), openLanes)
      changed.clear()
      if (queuesById.size > MOST_REMEMBERED || byId.size > MOST_REMEMBERED) forgetLanes()
    },
    forget() {
      forgetLanes()
      tenants.clear()
    },
    recall() {
      const row = readTotals()!
      totals = countsOf(row)
      openLanes = row[5]
    },
  }
}

/** Of a row, as `isOpen` is of an entry. */
export const IS_OPEN = 'pending + in_flight > 0'

function isOpen({ tasks }: LaneEntry): boolean {
  return tasks.PENDING + tasks.IN_FLIGHT > 0
}

function countsOf([PENDING, IN_FLIGHT, SUCCEEDED, EXHAUSTED, CANCELLED]: readonly number[]): LaneEntry['tasks'] {
  return {
    PENDING: PENDING!,
    IN_FLIGHT: IN_FLIGHT!,
    SUCCEEDED: SUCCEEDED!,
    EXHAUSTED: EXHAUSTED!,
    CANCELLED: CANCELLED!,
  }
}

function valuesOf(counts: LaneEntry['tasks']): CountsRow {
  return [counts.PENDING, counts.IN_FLIGHT, counts.SUCCEEDED, counts.EXHAUSTED, counts.CANCELLED]
}

/** The names of a tenant's lanes lie between these. */
function lanesOf(tenant: string): [behind: string, before: string] {
  return [`${tenant} `, `${tenant}!`]
}
