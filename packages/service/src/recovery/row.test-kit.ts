/** A row is one case of recovery. A run is a record of one pass through it; measures read their figures from that record. */
import type { Random, RetryPolicy } from '@secondwind/resilience'

export interface Row {
  readonly name: string
  readonly title: string
  /** It takes hours, or so many tasks that only virtual time has room for them. */
  readonly isVirtual: boolean
  /** Tasks are numbered from 0, in this order. */
  readonly arrivals: readonly Arrivals[]
  /** What differs from the service's default policy; absent: nothing. */
  readonly policy?: Partial<RetryPolicy>
  /** Requests under way at once to the destination; absent: the default. */
  readonly limit?: number
  /** Made anew for each run: some targets remember. */
  readonly target: () => TargetRule
  /** Whether a task can be delivered at all, and is counted; absent: all can. */
  readonly counts?: (task: number) => boolean
  /** Tasks of the same tenant for a second destination, which is always well. */
  readonly beside?: Arrivals
  /** The service is killed so long after it took the first task, and started again at once. */
  readonly killAfterMs?: number
  /** The run ends when all that count are delivered, or then. */
  readonly endsAtMs: number
  readonly measures: readonly Measure[]
}

export interface Arrivals {
  readonly count: number
  readonly everyMs: number
  /** Left out: 0. */
  readonly fromMs?: number
}

/** What a target answers, from what it can see of a request. */
export type TargetRule = (call: TargetCall) => Reply

export interface TargetCall {
  /** Since the run began. */
  readonly atMs: number
  readonly task: number
  /** How often the target was asked for this task, this time included. */
  readonly attempt: number
  readonly random: Random
}

export type Reply =
  | { readonly kind: 'answers'; readonly status: number; readonly afterMs: number }
  /** Until the caller has had enough. */
  | { readonly kind: 'hangs' }

/** A figure of a run, and what it must not exceed; without `must` it is only told. */
export interface Measure {
  readonly say: string
  readonly unit: 'ms' | '%' | 'requests' | 'tasks' | 'attempts a task'
  readonly of: (run: Run) => number
  readonly must?: number
  readonly aim?: number
}

/** Seen from outside; instants are milliseconds since the run began. */
export interface Run {
  readonly row: Row
  readonly tasks: readonly TaskSeen[]
  readonly beside: readonly TaskSeen[]
  readonly requests: readonly RequestSeen[]
  /** Tasks that were given up. */
  readonly dead: number
  /** When the killed service was started again. */
  readonly restartedAtMs?: number
}

export interface TaskSeen {
  readonly arrivedAtMs: number
  /** Infinity: never. */
  readonly deliveredAtMs: number
}

export interface RequestSeen {
  readonly task: number
  readonly atMs: number
  readonly isSuccess: boolean
}

export function instantsOf({ count, everyMs, fromMs = 0 }: Arrivals): number[] {
  return Array.from({ length: count }, (_, number) => fromMs + number * everyMs)
}

function taskCountOf(row: Row): number {
  return row.arrivals.reduce((sum, { count }) => sum + count, 0)
}

/** Numbers of the tasks that count. */
export function countedOf(row: Row): number[] {
  const numbers = Array.from({ length: taskCountOf(row) }, (_, number) => number)
  return row.counts === undefined ? numbers : numbers.filter(row.counts)
}

/** When so large a share of the tasks that count had arrived at the target, from `sinceMs` on. */
export function deliveredAfter(run: Run, share: number, sinceMs = 0): number {
  return Math.max(
    0,
    quantile(
      counted(run).map(({ deliveredAtMs }) => deliveredAtMs),
      share,
    ) - sinceMs,
  )
}

/** How long after their arrival so large a share of the tasks that count was delivered. */
export function waitOf(run: Run, share: number): number {
  return quantile(counted(run).map(waitedMs), share)
}

export function longestWaitBeside({ beside }: Run): number {
  return Math.max(...beside.map(waitedMs))
}

export function undelivered(run: Run): number {
  return counted(run).filter(({ deliveredAtMs }) => deliveredAtMs === Infinity).length
}

export function firstSuccessAfter({ requests }: Run, sinceMs: number): number {
  const first = requests.find(({ isSuccess, atMs }) => isSuccess && atMs >= sinceMs)
  return first === undefined ? Infinity : first.atMs - sinceMs
}

export function requestsUntil({ requests }: Run, untilMs: number): number {
  return requests.filter(({ atMs }) => atMs < untilMs).length
}

export function failedPerTask({ requests, tasks }: Run): number {
  return requests.filter(({ isSuccess }) => !isSuccess).length / tasks.length
}

/** In words, as titles and tables show it. */
export function sayFigure({ unit }: Measure, figure: number): string {
  if (figure === Infinity) return 'never'
  return unit === 'ms' ? `${digits(figure / 1_000)} s` : `${digits(figure)} ${unit}`
}

function digits(figure: number): string {
  return String(Number(figure.toFixed(figure < 10 ? 2 : 0)))
}

function counted({ row, tasks }: Run): TaskSeen[] {
  return countedOf(row).map(number => tasks[number]!)
}

function waitedMs({ arrivedAtMs, deliveredAtMs }: TaskSeen): number {
  return deliveredAtMs - arrivedAtMs
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? Infinity
}
