import { causeIdOf } from '../cause-id.ts'
import { laneOf } from '../../task/lane.ts'
import { deadLetterOf, type DeadLetter } from '../../task/replay/dead-letter.ts'
import type { AttemptRow, Task } from '../../task/task.ts'
import { cursorOf } from '../cursor.ts'
import type {
  AttemptsPage,
  Cause,
  CausesPage,
  DeadLettersPage,
  LaneCounters,
  LanesPage,
  Page,
  TaskFilter,
  TasksPage,
} from '../task-store.ts'
import type { Book, Tally } from './book.ts'
import { bytesOfAttempt, bytesOfTask, fitting } from '../page-bytes.ts'
import { pageFrom } from './page.ts'

const LIST = cursorOf('list', 'number')

/** A filter that fits nothing must not walk through everything in one call. */
const MOST_LOOKED_AT = 1_000

export function list(book: Book, { filter, limit, cursor }: TasksPage): Page<Task> {
  const from = cursor === undefined ? undefined : { at: 0, number: LIST.read(cursor)[0] }
  if (filter.idempotencyKey !== undefined) return { items: from === undefined ? keyed(book, filter) : [] }
  const looked = book.arrivals.before(from, MOST_LOOKED_AT)
  const wanted = looked.filter(({ item }) => isWanted(item.task, filter)).slice(0, limit)
  const items = fitting(wanted, ({ item }) => item.task, bytesOfTask)
  const isFull = items.length === limit || items.length < wanted.length
  const last = isFull ? wanted[items.length - 1] : looked.at(-1)
  if (last === undefined || book.arrivals.before(last, 1).length === 0) return { items }
  return { items, nextCursor: LIST.write([last.number]) }
}

/** Without a walk: of each tenant a key is one task's alone, and its page has no next one. */
function keyed(book: Book, filter: TaskFilter): readonly Task[] {
  const tenants = filter.tenant === undefined ? tenantsIn(book) : [filter.tenant]
  return tenants
    .flatMap(tenant => book.findByKey(tenant, filter.idempotencyKey!)?.task ?? [])
    .filter(task => isWanted(task, filter))
}

function tenantsIn(book: Book): readonly string[] {
  return [...new Set([...book.lanes.keys()].map(lane => laneOf(lane).tenant))]
}

const DEAD_LETTERS = cursorOf('deadLetters', 'number')

export function deadLetters(book: Book, { filter, limit, cursor }: DeadLettersPage): Page<DeadLetter> {
  const from = cursor === undefined ? undefined : { at: 0, number: DEAD_LETTERS.read(cursor)[0] }
  const looked = book.arrivals.after(from, MOST_LOOKED_AT)
  const items: DeadLetter[] = []
  let last = from
  for (const { at, number, item } of looked) {
    if (items.length === limit) break
    last = { at, number }
    const dead = deadLetterOf(item.task)
    if (dead !== undefined && isWanted(item.task, filter)) items.push(dead)
  }
  if (last === undefined || book.arrivals.after(last, 1).length === 0) return { items }
  return { items, nextCursor: DEAD_LETTERS.write([last.number]) }
}

function isWanted(task: Task, filter: TaskFilter): boolean {
  const { state, progress, lastAttempt, createdAt } = task
  const { reason, held, endedAt } =
    state.status === 'EXHAUSTED' ? state : { reason: undefined, held: undefined, endedAt: NaN }
  return (
    isAny(filter.tenant, task.tenant) &&
    isAny(filter.status, state.status) &&
    isAny(filter.destination, task.destination) &&
    isAny(filter.policyId, task.policyId) &&
    isAny(filter.idempotencyKey, task.idempotencyKey) &&
    isAny(filter.createdBy, task.createdBy) &&
    isAny(filter.errorCode, lastAttempt?.errorCode) &&
    isAny(filter.reason, reason) &&
    progress.attemptNumber >= (filter.attemptFrom ?? 0) &&
    createdAt >= (filter.createdFrom ?? -Infinity) &&
    createdAt < (filter.createdTo ?? Infinity) &&
    (filter.endedFrom === undefined || endedAt >= filter.endedFrom) &&
    (filter.endedTo === undefined || endedAt < filter.endedTo) &&
    (filter.causeId === undefined || (reason !== undefined && causeIdOf({ ...task, reason, held }) === filter.causeId))
  )
}

function isAny<Value>(wanted: Value | undefined, is: Value | undefined): boolean {
  return wanted === undefined || wanted === is
}

const ATTEMPTS = cursorOf('attempts', 'number')

export function attempts(book: Book, { taskId, ...page }: AttemptsPage): Page<AttemptRow> {
  const rows = [...(book.find(taskId)?.attempts.entries() ?? [])]
  const found = pageFrom(rows, page, ATTEMPTS, {
    placeOf: ([index]): [number] => [index],
    isShown: ([index], [last]) => index <= last,
  })
  const items = fitting(found.items, ([, row]) => row, bytesOfAttempt)
  const isShort = items.length < found.items.length
  const nextCursor = isShort ? ATTEMPTS.write([found.items[items.length - 1]![0]]) : found.nextCursor
  return { items, ...(nextCursor !== undefined && { nextCursor }) }
}

const CAUSES = cursorOf('causes', 'number', 'string')

export function causes(book: Book, ask: CausesPage): Page<Cause> {
  return pageFrom(book.causes.of(ask), ask, CAUSES, {
    placeOf: ({ count, causeId }): [number, string] => [count, causeId],
    isShown: (cause, [count, causeId]) => cause.count > count || (cause.count === count && cause.causeId <= causeId),
  })
}

const LANES = cursorOf('laneCounters', 'string')

export function laneCounters(book: Book, ask: LanesPage): Page<LaneCounters> {
  const { tenant, lanes: wanted, destination, ...page } = ask
  const lanes = [...book.lanes]
    .filter(([lane]) => wanted?.includes(lane) ?? true)
    .filter(([lane]) => isAny(tenant, laneOf(lane).tenant))
    .filter(([lane]) => isAny(destination, laneOf(lane).destination))
    .map(([lane, tally]) => countersOf(lane, tally))
    .toSorted((one, other) => (one.lane < other.lane ? -1 : 1))
  return pageFrom(lanes, page, LANES, {
    placeOf: ({ lane }): [string] => [lane],
    isShown: ({ lane }, [last]) => lane <= last,
  })
}

function countersOf(lane: string, tally: Tally): LaneCounters {
  return {
    lane,
    pending: tally.PENDING,
    inFlight: tally.IN_FLIGHT,
    succeeded: tally.SUCCEEDED,
    exhausted: tally.EXHAUSTED,
    cancelled: tally.CANCELLED,
    attempts: tally.attempts,
    firstAttempts: tally.firstAttempts,
  }
}
