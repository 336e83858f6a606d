/**
 * Lanes and queues by their names and numbers, and how many tasks of each status they have. Names are looked up once and
 * remembered. Counters are kept in memory too, and written once per transaction, not once per task.
 */
import { strict as assert } from 'node:assert'
import { laneKey, laneOf, partitionOf } from '../../task/lane.ts'
import { TASK_STATUSES, type TaskStatus } from '../../task/task.ts'
import type { Beat, WaitingTasks } from '../store.ts'
import { named, type Connection } from './connection.ts'

export interface LaneEntry {
  readonly laneId: number
  readonly key: string
  readonly partition: number
  readonly tenant: string
  readonly queues: Map<string, QueueEntry>
  readonly tasks: Counts
  attempts: number
  firstAttempts: number
}

export interface QueueEntry {
  readonly queueId: number
  readonly key: string
  readonly lane: LaneEntry
}

type Counts = { [status in TaskStatus]: number }

interface LaneRow extends Readonly<Counts>, Pick<LaneEntry, 'laneId' | 'tenant' | 'attempts' | 'firstAttempts'> {
  readonly destination: string
}

const LANE = `${named('lane_id, tenant, destination, attempts, first_attempts')}, pending as PENDING, in_flight as IN_FLIGHT,
  succeeded as SUCCEEDED, exhausted as EXHAUSTED, cancelled as CANCELLED`

export interface Lanes {
  /** Undefined for a queue that never had a task. */
  findQueue(lane: string, queue: string): QueueEntry | undefined
  /** Makes the lane or the queue if it is new. */
  queueOf(lane: string, queue: string): QueueEntry
  queueBy(queueId: number): QueueEntry
  laneBy(laneId: number): LaneEntry
  /** A task of the lane changes its status. From null: it is new; to null: it is forgotten. */
  move(lane: LaneEntry, from: TaskStatus | null, to: TaskStatus | null): void
  countAttempt(lane: LaneEntry, isFirst: boolean): void
  remove(lane: LaneEntry): void
  waiting(largeFrom: Beat['largeFrom']): WaitingTasks
  /** Writes the counters that changed: the last step before a commit. */
  flush(): void
  /** The transaction failed: counters are as they were before it. */
  undo(): void
}

/** Enough for every lane that is busy at once; a miss costs a few microseconds. */
const MOST_REMEMBERED = 20_000

export function createLanes(connection: Connection): Lanes {
  const readByName = connection.object<LaneRow>(`select ${LANE} from lane where tenant = ? and destination = ?`)
  const readById = connection.object<LaneRow>(`select ${LANE} from lane where lane_id = ?`)
  const insert = connection.write('insert into lane (tenant, destination) values (?, ?)')
  const update = connection.write(
    `update lane set pending = ?, in_flight = ?, succeeded = ?, exhausted = ?, cancelled = ?, attempts = ?, first_attempts = ?
     where lane_id = ?`,
  )
  const readQueue = connection.row<[number]>('select queue_id from queue where lane_id = ? and key = ?')
  const readQueueById = connection.row<[number, string]>('select lane_id, key from queue where queue_id = ?')
  const lastQueueId = connection.row<[number | null]>('select max(queue_id) from queue where queue_id between ? and ?')
  const insertQueue = connection.write('insert into queue (queue_id, lane_id, key) values (?, ?, ?)')
  const removeQueues = connection.write('delete from queue where lane_id = ?')
  const removeLane = connection.write('delete from lane where lane_id = ?')

  const byKey = new Map<string, LaneEntry>()
  const byId = new Map<number, LaneEntry>()
  const queuesById = new Map<number, QueueEntry>()
  /** Lanes whose counters this transaction has changed. */
  const changed = new Set<LaneEntry>()
  /** Kept as tasks move; undefined until a beat asks, and after a transaction that failed. */
  let sums: Sums | undefined

  const remember = (row: LaneRow): LaneEntry => {
    const { laneId, tenant, attempts, firstAttempts } = row
    const key = laneKey(row)
    const lane = {
      laneId,
      key,
      tenant,
      partition: partitionOf(key),
      queues: new Map(),
      tasks: countsOf(row),
      attempts,
      firstAttempts,
    }
    byKey.set(key, lane)
    byId.set(laneId, lane)
    return lane
  }
  const find = (key: string): LaneEntry | undefined => {
    const known = byKey.get(key)
    if (known !== undefined) return known
    const { tenant, destination } = laneOf(key)
    const row = readByName(tenant, destination)
    return row && remember(row)
  }
  const make = (key: string): LaneEntry => {
    const { tenant, destination } = laneOf(key)
    insert(tenant, destination)
    const lane = find(key)
    assert(lane !== undefined, 'a lane that was inserted is there')
    return lane
  }
  const rememberQueue = (lane: LaneEntry, key: string, queueId: number): QueueEntry => {
    const queue = { queueId, key, lane }
    lane.queues.set(key, queue)
    queuesById.set(queueId, queue)
    return queue
  }
  const findIn = (lane: LaneEntry, key: string): QueueEntry | undefined => {
    const known = lane.queues.get(key)
    if (known !== undefined) return known
    const row = readQueue(lane.laneId, key)
    return row && rememberQueue(lane, key, row[0])
  }
  const makeQueue = (lane: LaneEntry, key: string): QueueEntry => {
    const [first, last] = queueIdsOf(lane.partition)
    const queueId = (lastQueueId(first, last)?.[0] ?? first) + 1
    assert(queueId <= last, 'a partition has room for four thousand million queues')
    insertQueue(queueId, lane.laneId, key)
    return rememberQueue(lane, key, queueId)
  }
  const laneBy = (laneId: number): LaneEntry => {
    const known = byId.get(laneId)
    if (known !== undefined) return known
    const row = readById(laneId)
    assert(row !== undefined, `lane ${laneId} is named by a row and must be there`)
    return remember(row)
  }
  const count = (lane: LaneEntry, status: TaskStatus, by: number): void => {
    const wasOpen = isOpen(lane)
    lane.tasks[status] += by
    assert(lane.tasks[status] >= 0, `${lane.key} has fewer than no tasks that are ${status}`)
    if (sums !== undefined) addTo(sums, lane, { status, by, opened: Number(isOpen(lane)) - Number(wasOpen) })
    changed.add(lane)
  }
  const forgetNames = (): void => {
    for (const memory of [byKey, byId, queuesById]) memory.clear()
  }

  return {
    findQueue(laneName, key) {
      const lane = find(laneName)
      return lane && findIn(lane, key)
    },
    queueOf(laneName, key) {
      const lane = find(laneName) ?? make(laneName)
      return findIn(lane, key) ?? makeQueue(lane, key)
    },
    queueBy(queueId) {
      const known = queuesById.get(queueId)
      if (known !== undefined) return known
      const row = readQueueById(queueId)
      assert(row !== undefined, `queue ${queueId} is named by a row and must be there`)
      return rememberQueue(laneBy(row[0]), row[1], queueId)
    },
    laneBy,
    move(lane, from, to) {
      if (to !== null) count(lane, to, 1)
      if (from !== null) count(lane, from, -1)
    },
    countAttempt(lane, isFirst) {
      lane.attempts++
      if (isFirst) lane.firstAttempts++
      changed.add(lane)
    },
    remove(lane) {
      assert(
        TASK_STATUSES.every(status => lane.tasks[status] === 0),
        `${lane.key} still counts tasks`,
      )
      removeQueues(lane.laneId)
      removeLane(lane.laneId)
      for (const { queueId } of lane.queues.values()) queuesById.delete(queueId)
      byKey.delete(lane.key)
      byId.delete(lane.laneId)
    },
    waiting(largeFrom) {
      if (sums?.largeFrom !== largeFrom.tasks) sums = readSums(connection, largeFrom.tasks)
      const { tasks, openLanes, tenants, large } = sums
      return {
        tasks: { ...tasks },
        openLanes,
        tenants: [...tenants]
          .filter(([, of]) => of.pending >= largeFrom.tasks || of.openLanes >= largeFrom.lanes)
          .map(([tenant, of]) => ({ tenant, ...of })),
        lanes: [...large].map(([lane, pending]) => ({ lane, pending })),
      }
    },
    flush() {
      for (const { tasks, attempts, firstAttempts, laneId } of changed)
        update(...TASK_STATUSES.map(status => tasks[status]), attempts, firstAttempts, laneId)
      changed.clear()
      if (queuesById.size > MOST_REMEMBERED || byId.size > MOST_REMEMBERED) forgetNames()
    },
    undo() {
      changed.clear()
      forgetNames()
      sums = undefined
    },
  }
}

function isOpen({ tasks }: Pick<LaneEntry, 'tasks'>): boolean {
  return tasks.PENDING + tasks.IN_FLIGHT > 0
}

/** What a beat tells of all lanes together. */
interface Sums {
  readonly tasks: Counts
  openLanes: number
  readonly tenants: Map<string, { pending: number; openLanes: number }>
  /** Waiting tasks of the lanes that have at least `largeFrom`. */
  readonly large: Map<string, number>
  readonly largeFrom: number
}

type Counted = Pick<LaneEntry, 'key' | 'tenant' | 'tasks'>

/** `opened` is 1 where the lane had no unfinished task before, and -1 where it has none now. */
function addTo(
  sums: Sums,
  { key, tenant, tasks }: Counted,
  change: { status: TaskStatus; by: number; opened: number },
): void {
  const { status, by, opened } = change
  sums.tasks[status] += by
  sums.openLanes += opened
  if (status !== 'PENDING' && opened === 0) return
  const of = sums.tenants.get(tenant) ?? { pending: 0, openLanes: 0 }
  of.openLanes += opened
  if (status === 'PENDING') of.pending += by
  sums.tenants.set(tenant, of)
  if (tasks.PENDING >= sums.largeFrom) sums.large.set(key, tasks.PENDING)
  else sums.large.delete(key)
}

/** Once: from then on the sums are kept. A beat that asks for other large lanes reads them anew. */
function readSums(connection: Connection, largeFrom: number): Sums {
  const tasks = { PENDING: 0, IN_FLIGHT: 0, SUCCEEDED: 0, EXHAUSTED: 0, CANCELLED: 0 }
  const sums = { tasks, openLanes: 0, tenants: new Map(), large: new Map(), largeFrom }
  for (const row of connection.objects<LaneRow>(`select ${LANE} from lane`)()) {
    const lane = { key: laneKey(row), tenant: row.tenant, tasks: countsOf(row) }
    for (const status of TASK_STATUSES) addTo(sums, lane, { status, by: row[status], opened: 0 })
    if (isOpen(lane)) addTo(sums, lane, { status: 'PENDING', by: 0, opened: 1 })
  }
  return sums
}

function countsOf({ PENDING, IN_FLIGHT, SUCCEEDED, EXHAUSTED, CANCELLED }: Readonly<Counts>): Counts {
  return { PENDING, IN_FLIGHT, SUCCEEDED, EXHAUSTED, CANCELLED }
}

const PARTITION_SPAN = 2 ** 32

/** The numbers that queues of a partition may have: listing a partition is going from one to the next. */
export function queueIdsOf(partition: number): readonly [first: number, last: number] {
  return [partition * PARTITION_SPAN, (partition + 1) * PARTITION_SPAN - 1]
}
