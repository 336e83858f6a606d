import { laneKey } from '../../../task/lane.ts'
import type { Task } from '../../../task/task.ts'
import type { TaskFilter, TasksPage } from '../../task-store.ts'
import type { Connection, Value } from '../file/connection.ts'
import { blockOf, BLOCK_TASKS } from '../rows/blocks.ts'
import type { From, Slice } from '../rows/slice.ts'
import { readStandings } from '../rows/standing.ts'
import { readWholeTasks } from '../rows/whole-tasks.ts'

export type List = (ask: From<TasksPage, [seq: number]>) => Slice<Task, [number]>

/** Tasks that one call looks at: some ten milliseconds; whoever wants more has a cursor. */
const MOST_LOOKS = 2_000
/** Read at a time, for most pages are full long before. */
const STRIDE = 100

/**
 * Walks from the newest task to older ones, along the shortest way that the filter allows (dead letters, leases, one
 * lane, all), and looks at each.
 */
export function createList(connection: Connection): List {
  const waysOf = createWays(connection)
  const matches = createMatcher(connection)
  const nextStretch = createStretches(connection)
  const whole = readWholeTasks(connection)

  return ({ filter, limit, from }) => {
    const way = waysOf(filter)
    const found: number[] = []
    let before = from?.[0] ?? Number.MAX_SAFE_INTEGER
    for (let looks = 0; looks < MOST_LOOKS; looks += STRIDE) {
      const stretch = nextStretch(filter, before)
      if (stretch === undefined || way === undefined) return { items: tasksOf(found), next: null }
      const candidates = way(stretch.before, stretch.from, STRIDE)
      for (const seq of candidates) {
        if (!matches(seq, filter)) continue
        if (found.length === limit) return { items: tasksOf(found), next: [found.at(-1) ?? seq + 1] }
        found.push(seq)
      }
      before = candidates.length < STRIDE ? stretch.from : candidates.at(-1)!
    }
    return { items: tasksOf(found), next: [before] }
  }

  function tasksOf(seqs: readonly number[]): Task[] {
    return seqs.map(seq => whole.bySeq(seq)!)
  }
}

/** The numbers of some tasks, the highest first, below `before` and not below `from`. */
type Way = (before: number, from: number, limit: number) => number[]

function createWays(connection: Connection): (filter: TaskFilter) => Way | undefined {
  const wayAlong = (table: string, where?: string): ((...values: Value[]) => Way) => {
    const read = connection.rows<[number]>(
      `select seq from ${table} where ${where === undefined ? '' : `${where} and `}seq < ? and seq >= ?
       order by seq desc limit ?`,
    )
    return (...values) =>
      (before, from, limit) =>
        read(...values, before, from, limit).map(([seq]) => seq)
  }
  const readLane = connection.row<[number]>('select lane_id from lane where key = ?')
  const deadOfCause = wayAlong('dead', 'cause_id = ?')
  const deadOfLane = wayAlong('dead', 'lane_id = ?')
  const dead = wayAlong('dead')
  const leased = wayAlong('lease')
  const ofLane = wayAlong('task', 'lane_id = ?')
  const all = wayAlong('task')

  return ({ tenant, destination, status, reason, causeId }) => {
    const isOfDead = status === 'EXHAUSTED' || reason !== undefined || causeId !== undefined
    if (isOfDead && status !== undefined && status !== 'EXHAUSTED') return undefined
    if (causeId !== undefined) return deadOfCause(causeId)
    const lane = destination === undefined ? undefined : readLane(laneKey({ tenant, destination }))
    if (destination !== undefined && lane === undefined) return undefined
    if (isOfDead) return lane === undefined ? dead() : deadOfLane(...lane)
    if (status === 'IN_FLIGHT') return leased()
    return lane === undefined ? all() : ofLane(...lane)
  }
}

/** Whether a task is one of those asked for; what is cheap to read is read first. */
function createMatcher(connection: Connection): (seq: number, filter: TaskFilter) => boolean {
  const readBrief = connection.row<[lane: string, policyId: string, createdAt: number]>(
    'select lane.key, policy_id, created_at from task join lane using (lane_id) where seq = ?',
  )
  const readLease = connection.row<[number]>('select 1 from lease where seq = ?')
  const standingOf = readStandings(connection)
  const whole = readWholeTasks(connection)

  const isAccepted = (seq: number, filter: TaskFilter): boolean => {
    const [lane, policyId, createdAt] = readBrief(seq)!
    const { tenant, destination, createdFrom = -Infinity, createdTo = Infinity } = filter
    return (
      (destination === undefined ? lane.startsWith(`${tenant} `) : lane === laneKey({ tenant, destination })) &&
      (filter.policyId === undefined || policyId === filter.policyId) &&
      createdAt >= createdFrom &&
      createdAt < createdTo
    )
  }
  return (seq, filter) => {
    if (!isAccepted(seq, filter)) return false
    const { status, reason, attemptFrom = 0, errorCode } = filter
    const standing = standingOf(seq)!
    const [, attemptNumber] = standing.progress
    // The log says PENDING of what is under way, too.
    const isStatus = (): boolean =>
      status === 'PENDING' || status === 'IN_FLIGHT'
        ? standing.status === 'PENDING' && (readLease(seq) !== undefined) === (status === 'IN_FLIGHT')
        : status === undefined || standing.status === status
    return (
      attemptNumber >= attemptFrom &&
      (reason === undefined || standing.reason === reason) &&
      isStatus() &&
      (errorCode === undefined || whole.attemptEnd(standing.attemptId)?.errorCode === errorCode)
    )
  }
}

/** The next numbers, from `before` downward, whose tasks may have been created in time; undefined when there are none. */
function createStretches(
  connection: Connection,
): (filter: TaskFilter, before: number) => { readonly from: number; readonly before: number } | undefined {
  const readBlock = connection.row<[number]>(
    'select block from span where block <= ? and newest_at >= ? and oldest_at < ? order by block desc limit 1',
  )
  return ({ createdFrom = -Infinity, createdTo = Infinity }, before) => {
    if (before <= 1) return undefined
    if (createdFrom === -Infinity && createdTo === Infinity) return { from: 0, before }
    const row = readBlock(blockOf(before - 1), createdFrom, createdTo)
    if (row === undefined) return undefined
    const from = row[0] * BLOCK_TASKS
    return { from, before: Math.min(before, from + BLOCK_TASKS) }
  }
}
