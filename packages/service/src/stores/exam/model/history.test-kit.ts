import { laneOf } from '../../../task/lane.ts'
import type { AttemptRow, Task } from '../../../task/task.ts'
import { cursorOf } from '../../cursor.ts'
import {
  NoIndexError,
  type AttemptsPage,
  type Cause,
  type CausesPage,
  type LaneCounters,
  type LanesPage,
  type ListedTask,
  type Page,
  type Sweep,
  type TaskFilter,
  type TasksPage,
} from '../../store.ts'
import { pageOf } from './page.test-kit.ts'
import type { Entry, World } from './world.test-kit.ts'

const LIST = cursorOf('list', 'number', 'number')

export function list({ entries }: World, { filter, order, ...page }: TasksPage): Page<ListedTask> {
  if (order === 'oldest-death-first' && filter.status !== 'EXHAUSTED')
    throw new NoIndexError('only dead letters are listed by the instant of their death')
  if (order === 'due-first' && filter.status !== 'PENDING')
    throw new NoIndexError('only waiting tasks are listed by the next attempt')
  const wanted = entries.filter(entry => isWanted(entry, filter))
  const found = pageOf(wanted, page, {
    cursors: LIST,
    placeOf: ({ number, task: { state } }): [number, number] => {
      if (order === 'due-first' && state.status === 'PENDING') return [state.nextAttemptAt, number]
      if (filter.status === 'EXHAUSTED' && state.status === 'EXHAUSTED') return [state.endedAt, number]
      return [0, number]
    },
    isReversed: order === 'newest-first',
  })
  return { ...found, items: found.items.map(({ task }) => listed(task)) }
}

function listed(task: Task): ListedTask {
  const { body: _, ...request } = task.request
  return { ...task, request }
}

function isWanted({ task, causeId }: Entry, filter: TaskFilter): boolean {
  const { state, progress, lastAttempt, createdAt } = task
  const dead = state.status === 'EXHAUSTED' ? state : undefined
  return (
    isAny(filter.tenant, task.tenant) &&
    isAny(filter.status, state.status) &&
    isAny(filter.destination, task.destination) &&
    isAny(filter.policyId, task.policyId) &&
    isAny(filter.idempotencyKey, task.idempotencyKey) &&
    isAny(filter.errorCode, lastAttempt?.errorCode) &&
    isAny(filter.reason, dead?.reason) &&
    isAny(filter.causeId, causeId) &&
    progress.attemptNumber >= (filter.attemptFrom ?? 0) &&
    isWithin(createdAt, filter.createdFrom, filter.createdTo) &&
    isWithin(dead?.endedAt, filter.endedFrom, filter.endedTo)
  )
}

function isAny<Value>(wanted: Value | undefined, is: Value | undefined): boolean {
  return wanted === undefined || wanted === is
}

/** `from` is part of the range, `to` is not. A task without the instant is in no range. */
export function isWithin(at: number | undefined, from: number | undefined, to: number | undefined): boolean {
  if (from === undefined && to === undefined) return true
  return at !== undefined && at >= (from ?? -Infinity) && at < (to ?? Infinity)
}

const ATTEMPTS = cursorOf('attempts', 'number')

export function attempts(world: World, { taskId, ...page }: AttemptsPage): Page<AttemptRow> {
  const rows = [...(world.find(taskId)?.attempts.entries() ?? [])]
  const found = pageOf(rows, page, { cursors: ATTEMPTS, placeOf: ([at]): [number] => [at] })
  return { ...found, items: found.items.map(([, row]) => row) }
}

const CAUSES = cursorOf('causes', 'number', 'string')

export function causes(world: World, { tenant, destination, causeId, ...page }: CausesPage): Page<Cause> {
  const ids = [...new Set(world.entries.flatMap(entry => entry.causeId ?? []))]
  const wanted = ids
    .flatMap(id => causeOf(world, id))
    .filter(cause => isAny(tenant, cause.tenant) && isAny(destination, cause.destination))
    .filter(cause => isAny(causeId, cause.causeId))
  return pageOf(wanted, page, {
    cursors: CAUSES,
    placeOf: ({ count, causeId }): [number, string] => [-count, causeId],
  })
}

const SAMPLES = 3

/** None where no dead letter is left of it. */
function causeOf({ entries, causes }: World, causeId: string): Cause[] {
  const dead = entries.filter(entry => entry.causeId === causeId).map(({ task }) => task)
  const oldest = dead.toSorted((one, other) => endOf(one) - endOf(other))
  const [first] = oldest
  const since = causes.get(causeId)
  if (first?.state.status !== 'EXHAUSTED' || since === undefined) return []
  const { tenant, destination, state, lastAttempt } = first
  const { outcome: _, ...seen } = lastAttempt ?? { outcome: undefined }
  return [
    {
      causeId,
      tenant,
      destination,
      reason: state.reason,
      ...(state.held !== undefined && { heldBy: state.held.by }),
      ...seen,
      count: dead.length,
      ...since,
      sampleTaskIds: oldest.slice(0, SAMPLES).map(({ taskId }) => taskId),
    },
  ]
}

/** When the task ended; never for one that goes on. */
function endOf({ state }: Task): number {
  return state.status === 'PENDING' || state.status === 'IN_FLIGHT' ? Infinity : state.endedAt
}

const LANES = cursorOf('lanes', 'string')

export function lanes(world: World, { tenant, destination, names, ...page }: LanesPage): Page<LaneCounters> {
  const wanted = [...world.lanes.keys()].filter(
    lane =>
      isAny(tenant, laneOf(lane).tenant) &&
      isAny(destination, laneOf(lane).destination) &&
      (names === undefined || names.includes(lane)),
  )
  const counted = wanted.map(lane => countersOf(world, lane))
  return pageOf(counted, page, { cursors: LANES, placeOf: ({ lane }): [string] => [lane] })
}

export function countersOf({ entries, lanes }: World, lane: string): LaneCounters {
  const statuses = entries.filter(entry => entry.lane === lane).map(({ task }) => task.state.status)
  return {
    lane,
    pending: statuses.filter(status => status === 'PENDING').length,
    inFlight: statuses.filter(status => status === 'IN_FLIGHT').length,
    succeeded: statuses.filter(status => status === 'SUCCEEDED').length,
    exhausted: statuses.filter(status => status === 'EXHAUSTED').length,
    cancelled: statuses.filter(status => status === 'CANCELLED').length,
    ...(lanes.get(lane) ?? { attempts: 0, firstAttempts: 0 }),
  }
}

/** Forgets tasks, then lines, then lanes: `limit` of all together. */
export function sweep(world: World, { finishedBefore, deadBefore, auditBefore, limit }: Sweep): number {
  const { entries, audit } = world
  const over = entries.filter(
    ({ task }) => endOf(task) < (task.state.status === 'EXHAUSTED' ? deadBefore : finishedBefore),
  )
  const tasks = over.toSorted((one, other) => endOf(one.task) - endOf(other.task)).slice(0, limit)
  for (const entry of tasks) entries.splice(entries.indexOf(entry), 1)

  const lines = audit.filter(({ at }) => at < auditBefore).slice(0, limit - tasks.length)
  audit.splice(0, lines.length)

  const empty = [...world.lanes.keys()].filter(lane => !entries.some(entry => entry.lane === lane))
  const lanes = empty.slice(0, limit - tasks.length - lines.length)
  for (const lane of lanes) {
    world.lanes.delete(lane)
    world.memories.delete(lane)
  }
  return tasks.length + lines.length + lanes.length
}
