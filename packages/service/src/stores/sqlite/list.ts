/**
 * Lists of tasks, read in the main thread a few rows at a time. The filter chooses the walk that looks at the fewest tasks; all
 * that is left of the filter is checked on each of them.
 *
 *   idempotencyKey              the key leads to the task
 *   status EXHAUSTED            dead letters by the instant of death: of a cause, of lanes, of all
 *   status IN_FLIGHT            the leases
 *   status PENDING, due-first   the queues of the lanes, merged
 *   else                        by arrival: the lanes merged, or all tasks
 */
import { TASK_ID_BYTES, taskIdOf } from '../../task/lane.ts'
import { cursorOf } from '../cursor.ts'
import { NoIndexError, type ListedTask, type Page, type TaskFilter, type TasksPage } from '../store.ts'
import { whereAll, type Connection } from './connection.ts'
import { keyHashOf } from './enqueue.ts'
import { wholeTasks } from './rows.ts'
import {
  isBefore,
  merged,
  startOf,
  walkOf,
  type Direction,
  type Place,
  type Turns,
  type Walk,
  IN_ONE_TURN,
} from './walk.ts'

/** Names the last task and its instant, and so tells nothing of the tasks of others. */
const TASKS = cursorOf('tasks', 'number', 'string')

/** A filter that fits nothing must not walk through everything in one call. */
const MOST_LOOKED_AT = 2_000
/** So many lanes or queues are merged; a list of more walks through all tasks. */
const MOST_MERGED = 200
/** A task's number and its creation differ by the time that its call waited to be written. */
const LONGEST_INTAKE_MS = 60_000

export type ListTasks = (ask: TasksPage) => Promise<Page<ListedTask>>

export function listReader(connection: Connection, turn: Turns): ListTasks {
  const chooseWalk = walksOf(connection)
  const whole = wholeTasks(connection, 'seq = ?', 'null')
  const places = cursorPlaces(connection)

  return async ({ filter, order, cursor, limit }) => {
    const direction = order === 'newest-first' ? 'descending' : 'ascending'
    const walk = chooseWalk({ filter, order })
    const fits = fitting(connection, filter)
    let place = cursor === undefined ? startOf(direction) : places.read(cursor, direction)
    const items: ListedTask[] = []
    let lastShown = place
    for (let looked = 0; looked < MOST_LOOKED_AT; looked += IN_ONE_TURN) {
      await turn()
      const next = walk(place, IN_ONE_TURN)
      const found = fits(next.map(([, seq]) => seq))
      for (const each of next) {
        if (items.length === limit) return { items, nextCursor: places.write(lastShown) }
        place = each
        if (!found.has(each[1])) continue
        items.push(...whole(each[1]).map(withoutBody))
        lastShown = each
      }
      if (next.length < IN_ONE_TURN) return { items }
    }
    // The last task that was looked at may be another tenant's: the cursor names its millisecond alone, if that leads on.
    const about = places.writeAbout(place)
    const leadsOn = direction === 'descending' && isBefore(lastShown, places.read(about, direction), direction)
    return { items, nextCursor: leadsOn ? about : places.write(place) }
  }
}

interface CursorPlaces {
  write(place: Place): string
  /** A place right before this one or a little earlier, without the id of a task. */
  writeAbout(place: Place): string
  read(cursor: string, direction: Direction): Place
}

function cursorPlaces(connection: Connection): CursorPlaces {
  const idOf = connection.row<[taskId: string]>('select task_id from task where seq = ?')
  const seqAt = connection.row<[taskId: string, seq: number]>(
    'select task_id, seq from task where task_id <= ? order by task_id desc limit 1',
  )
  return {
    write: ([at, seq]) => TASKS.write([at, idOf(seq)?.[0] ?? '']),
    writeAbout([at, seq]) {
      const [taskId] = idOf(seq) ?? ['']
      return TASKS.write([at, taskIdOf(createdAtOf(taskId) + 1, 0, new Uint8Array(TASK_ID_BYTES))])
    },
    read(cursor, direction) {
      const [at, taskId] = TASKS.read(cursor)
      const [foundId, seq] = seqAt(taskId) ?? ['', 0]
      // A task that was swept meanwhile stood right behind the one that is found.
      return [at, foundId !== taskId && direction === 'descending' ? seq + 1 : seq]
    },
  }
}

/** The millisecond that a UUIDv7 begins with. */
function createdAtOf(taskId: string): number {
  return Number.parseInt(taskId.slice(0, 13).replace('-', ''), 16)
}

function withoutBody({ request, ...task }: ReturnType<ReturnType<typeof wholeTasks>>[number]): ListedTask {
  const { body: _, ...rest } = request
  return { ...task, request: rest }
}

/** What each field of a filter asks of a task. */
const CONDITIONS: { readonly [field in keyof TaskFilter]-?: string } = {
  tenant: 'tenant =',
  destination: 'destination =',
  status: "iif(lease.seq is null, status, 'IN_FLIGHT') =",
  policyId: "accepted ->> 'policyId' =",
  idempotencyKey: 'coalesce(idempotency_key, task_id) =',
  attemptFrom: 'attempt_number >=',
  errorCode: 'error_code =',
  createdFrom: "accepted ->> 'createdAt' >=",
  createdTo: "accepted ->> 'createdAt' <",
  reason: 'reason =',
  causeId: 'cause_id =',
  endedFrom: "status = 'EXHAUSTED' and ended_at >=",
  endedTo: "status = 'EXHAUSTED' and ended_at <",
}

/** Says which of these tasks a filter fits. */
function fitting(connection: Connection, filter: TaskFilter): (seqs: readonly number[]) => ReadonlySet<number> {
  const asked = Object.entries(filter).filter(([, value]) => value !== undefined) as [
    keyof TaskFilter,
    string | number,
  ][]
  const read = connection.rows<[seq: number]>(
    `select seq from task join lane using (lane_id) join request using (seq) left join lease using (seq)
       left join attempt on attempt_id = last_attempt
     where seq in (select value from json_each(?)) ${asked.map(([field]) => `and ${CONDITIONS[field]} ?`).join(' ')}`,
  )
  return seqs => new Set(read(JSON.stringify(seqs), ...asked.map(([, value]) => value)).map(([seq]) => seq))
}

function walksOf(connection: Connection): (ask: Pick<TasksPage, 'filter' | 'order'>) => Walk {
  const queuesOf = connection.rows<[queueId: number]>(
    'select queue_id from queue where lane_id = ?1 and exists (select 1 from due where due.queue_id = queue.queue_id)',
  )
  const waitingQueues = connection.row<[queueId: number]>(
    'select queue_id from due where queue_id > ? order by queue_id limit 1',
  )
  const seqOfKey = connection.row<[seq: number]>('select seq from key where hash = ?')
  const seqOfTask = connection.row<[seq: number]>('select seq from task where task_id = ?')
  const leased = connection.rows<[seq: number]>('select seq from lease')
  const due = connection.rows<Place>(
    'select due_at, seq from due where queue_id = ?1 and (due_at, seq) > (?2, ?3) order by due_at, seq limit ?4',
  )
  const firstBehind = connection.row<[seq: number]>('select seq from task where task_id >= ? order by task_id limit 1')
  const arrived = connection.rows<Place>('select 0, seq from task where seq < ?1 order by seq desc limit ?2')
  const arrivedInLane = connection.rows<Place>(
    'select 0, seq from task where lane_id = ?1 and seq < ?2 order by seq desc limit ?3',
  )
  const deaths = (of: string) => {
    const rows = `select ended_at, seq from task
       where status = 'EXHAUSTED' and ${of} and ended_at >= ?4 and ended_at < ?5 and (ended_at, seq)`
    return {
      ascending: connection.rows<Place>(`${rows} > (?2, ?3) order by ended_at, seq limit ?6`),
      descending: connection.rows<Place>(`${rows} < (?2, ?3) order by ended_at desc, seq desc limit ?6`),
    }
  }
  const dead = { ofAll: deaths('?1 is null'), ofLane: deaths('lane_id = ?1'), ofCause: deaths('cause_id = ?1') }

  /** Undefined where there are more lanes than can be merged. */
  const fewLanes = ({ tenant, destination }: TaskFilter): number[] | undefined => {
    if (tenant === undefined && destination === undefined) return undefined
    const { sql, values } = whereAll({ tenant, destination })
    const lanes = connection.rows<[laneId: number]>(`select lane_id from lane where ${sql} limit ?`)(
      ...values,
      MOST_MERGED + 1,
    )
    return lanes.length > MOST_MERGED ? undefined : lanes.map(([laneId]) => laneId)
  }

  const byKey = ({ tenant, idempotencyKey = '' }: TaskFilter, direction: Direction): Walk => {
    if (tenant === undefined)
      throw new NoIndexError('idempotencyKey is looked up within a tenant; name the tenant as well')
    const seqs = [seqOfKey(keyHashOf(tenant, idempotencyKey)), seqOfTask(idempotencyKey)].flatMap(row => row ?? [])
    return walkOf(
      seqs.map(seq => [0, seq] as const),
      direction,
    )
  }

  const byDeath = (filter: TaskFilter, direction: Direction): Walk => {
    const { causeId, endedFrom = 0, endedTo = Number.MAX_SAFE_INTEGER } = filter
    const walk =
      (way: (typeof dead)['ofAll'], of: string | number | null): Walk =>
      ([at, seq], count) =>
        way[direction](of, at, seq, endedFrom, endedTo, count)
    if (causeId !== undefined) return walk(dead.ofCause, causeId)
    const lanes = fewLanes(filter)
    return lanes === undefined
      ? walk(dead.ofAll, null)
      : merged(
          lanes.map(laneId => walk(dead.ofLane, laneId)),
          direction,
        )
  }

  const byDue = (filter: TaskFilter): Walk => {
    const queues: number[] = []
    const lanes = fewLanes(filter)
    if (lanes !== undefined) for (const laneId of lanes) queues.push(...queuesOf(laneId).map(([queueId]) => queueId))
    else
      for (
        let next = waitingQueues(-1);
        next !== undefined && queues.length <= MOST_MERGED;
        next = waitingQueues(next[0])
      )
        queues.push(next[0])
    if (queues.length > MOST_MERGED)
      throw new NoIndexError(
        `tasks wait in more than ${MOST_MERGED} queues; name a destination to see which is due first`,
      )
    return merged(
      queues.map(
        queueId =>
          ([at, seq], count) =>
            due(queueId, at, seq, count),
      ),
      'ascending',
    )
  }

  const byArrival = (filter: TaskFilter): Walk => {
    const { createdTo } = filter
    const last =
      createdTo === undefined
        ? undefined
        : firstBehind(taskIdOf(createdTo + LONGEST_INTAKE_MS, 0, new Uint8Array(TASK_ID_BYTES)))
    const before = (seq: number): number => Math.min(seq, last?.[0] ?? Number.MAX_SAFE_INTEGER)
    const lanes = fewLanes(filter)
    if (lanes === undefined) return ([, seq], count) => arrived(before(seq), count)
    return merged(
      lanes.map(
        laneId =>
          ([, seq], count) =>
            arrivedInLane(laneId, before(seq), count),
      ),
      'descending',
    )
  }

  return ({ filter, order }) => {
    const { status } = filter
    const direction = order === 'newest-first' ? 'descending' : 'ascending'
    if (order === 'oldest-death-first' && status !== 'EXHAUSTED')
      throw new NoIndexError('only dead letters are listed by their death')
    if (order === 'due-first' && status !== 'PENDING')
      throw new NoIndexError('only waiting tasks are listed by their next attempt')
    if (filter.idempotencyKey !== undefined) return byKey(filter, direction)
    if (status === 'EXHAUSTED') return byDeath(filter, direction)
    if (order === 'due-first') return byDue(filter)
    if (status === 'IN_FLIGHT')
      return walkOf(
        leased().map(([seq]) => [0, seq] as const),
        direction,
      )
    return byArrival(filter)
  }
}
