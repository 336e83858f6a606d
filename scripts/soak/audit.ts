/**
 * Compares one task of the ledger with the attempts that the service shows of it.
 *
 * The service promises at least once: an attempt counts if its request was sent or may have been, and a process that is
 * killed cannot write down how its attempts ended. So each request at the sink has one row in the log, by its number;
 * the row says what the sink answered, or says `lost`. Only a lost row lets a task that the sink has answered for good
 * be sent again. So a duplicate is explained when each lost row before it is explained by a kill:
 *
 *  1. The process that sent the request was killed, and nothing else was sent for the task before that.
 *  2. It was killed before it could settle: the sink had not answered, or had answered at most `SETTLE_MS` earlier.
 */
import type { FinalStatus, Life, SinkRequest, TaskEntry } from './ledger.ts'
import { ATTEMPT_TIMEOUT_MS, MAX_ATTEMPTS, type Answer } from './orders.ts'

/** An answer that a live process has had for so long is settled, however busy the machine. */
export const SETTLE_MS = 1_000

/** The service names instants by the clock of its store. */
const CLOCKS_DIFFER_MS = 1_000

/** The service gives up a task that loses so many attempts in a row. */
const MOST_LOST = 5

/** A task as `GET /retry-tasks` shows it. */
export interface ShownTask {
  readonly taskId: string
  readonly idempotencyKey: string
  readonly status: string
  readonly reason?: string
  readonly attemptNumber: number
}

/** A row of `GET /retry-tasks/{taskId}/attempts`. */
export interface ShownAttempt {
  readonly attemptNumber: number
  readonly startedAt: number
  readonly outcome: string
  readonly errorCode?: string
}

export interface Audit {
  readonly violations: readonly string[]
  /** Requests after the sink had answered for good. */
  readonly duplicates: number
  /** Rows of attempts whose end was not written down. */
  readonly lost: number
  /** Of those, the ones whose request never reached the sink. */
  readonly unsent: number
  /** How long before its kill a process had an answer that it did not settle; the longest. */
  readonly unsettledMs: number
}

/** What the log says of each answer of the sink. */
const SAID: { readonly [answer in Answer]: string } = {
  success: 'success',
  unavailable: 'http-503',
  reset: 'reset',
  silence: 'attempt-timeout',
  refusal: 'http-400',
}

export function auditTask(
  task: TaskEntry,
  shown: ShownTask | undefined,
  rows: readonly ShownAttempt[],
  lives: readonly Life[],
): Audit {
  if (shown === undefined)
    return { violations: [`${task.key} is gone`], duplicates: 0, lost: 0, unsent: 0, unsettledMs: 0 }
  const lost = rows.filter(isLost)
  const violations = [
    ...checkIdentity(task, shown),
    ...checkNumbers(task, shown, rows),
    ...checkEnd(shown, rows),
    ...rows.flatMap(row => (isLost(row) ? checkLost(task, row, lives) : checkAnswer(requestOf(task, row), row))),
  ]
  return {
    violations: violations.map(say => `${task.key}: ${say}`),
    duplicates: duplicatesOf(task),
    lost: lost.length,
    unsent: lost.filter(row => requestOf(task, row) === undefined).length,
    unsettledMs: Math.max(0, ...lost.map(row => unsettledMs(requestOf(task, row), lives))),
  }
}

export function isLost({ errorCode }: ShownAttempt): boolean {
  return errorCode === 'lost'
}

/** The process that sent a request: the last one that had begun when it arrived. */
export function lifeOf({ arrivedAt }: SinkRequest, lives: readonly Life[]): number {
  return lives.findLastIndex(({ begunAt }) => begunAt <= arrivedAt)
}

function requestOf({ requests }: TaskEntry, { attemptNumber }: ShownAttempt): SinkRequest | undefined {
  return requests.find(({ attempt }) => attempt === attemptNumber)
}

function checkIdentity({ key, taskId, settled }: TaskEntry, shown: ShownTask): string[] {
  const problems: string[] = []
  if (shown.taskId !== taskId) problems.push(`was accepted as ${taskId}, and is ${shown.taskId}`)
  if (shown.idempotencyKey !== key) problems.push(`has the key ${shown.idempotencyKey}`)
  if (settled !== undefined && settled.status !== shown.status)
    problems.push(`was seen ${settled.status}, and is ${shown.status}`)
  return problems
}

function checkNumbers({ requests }: TaskEntry, shown: ShownTask, rows: readonly ShownAttempt[]): string[] {
  const problems: string[] = []
  const numbers = rows.map(({ attemptNumber }) => attemptNumber)
  if (numbers.some((number, index) => number !== index + 1))
    problems.push(`its log has the attempts ${numbers.join(', ')}`)
  if (rows.length !== shown.attemptNumber)
    problems.push(`counts ${shown.attemptNumber} attempts, and its log has ${rows.length}`)
  for (const [index, { attempt }] of requests.entries()) {
    if (!numbers.includes(attempt)) problems.push(`attempt ${attempt} reached the sink, and is not in the log`)
    if (requests.findIndex(request => request.attempt === attempt) < index)
      problems.push(`attempt ${attempt} was sent twice`)
  }
  return problems
}

function checkEnd({ status, reason }: ShownTask, rows: readonly ShownAttempt[]): string[] {
  const problems: string[] = []
  const earlier = rows.slice(0, -1).find(({ outcome }) => outcome === 'success' || outcome === 'permanent')
  if (earlier !== undefined) problems.push(`went on after attempt ${earlier.attemptNumber}, which ended it`)
  const end = endOf(rows)
  const is = sayEnd({ status, ...(reason !== undefined && { reason }) })
  if (end === undefined) problems.push(`is ${is}, though its attempts do not end it`)
  else if (is !== sayEnd(end)) problems.push(`is ${is}; by its attempts it is ${sayEnd(end)}`)
  return problems
}

/** What a task comes to by its log; undefined where it has to go on. */
function endOf(rows: readonly ShownAttempt[]): { readonly status: FinalStatus; readonly reason?: string } | undefined {
  const last = rows.at(-1)
  if (last?.outcome === 'success') return { status: 'SUCCEEDED' }
  if (last?.outcome === 'permanent') return { status: 'EXHAUSTED', reason: 'permanent' }
  if (rows.length >= MOST_LOST && rows.slice(-MOST_LOST).every(isLost)) return { status: 'EXHAUSTED', reason: 'lost' }
  return rows.length === MAX_ATTEMPTS ? { status: 'EXHAUSTED', reason: 'attempts' } : undefined
}

function sayEnd({ status, reason }: { readonly status: string; readonly reason?: string }): string {
  return reason === undefined ? status : `${status} (${reason})`
}

function checkAnswer(request: SinkRequest | undefined, { attemptNumber, outcome, errorCode }: ShownAttempt): string[] {
  const said = errorCode ?? outcome
  if (request === undefined) return [`attempt ${attemptNumber} ended with ${said}, and never reached the sink`]
  const isAnswered = request.answeredAt !== undefined || request.answer === 'silence'
  if (isAnswered && said === SAID[request.answer]) return []
  return [
    `attempt ${attemptNumber} ended with ${said}; the sink ${isAnswered ? '' : 'had not yet '}answered ${SAID[request.answer]}`,
  ]
}

function checkLost(task: TaskEntry, row: ShownAttempt, lives: readonly Life[]): string[] {
  const request = requestOf(task, row)
  const isLost = `attempt ${row.attemptNumber} is lost`
  if (request === undefined) {
    const isExplained = lives.some(({ killedAt }) => killedAt !== undefined && isCutOff(row.startedAt, killedAt))
    return isExplained ? [] : [`${isLost}, never reached the sink, and the service was not killed then`]
  }
  const number = lifeOf(request, lives)
  const killedAt = lives[number]?.killedAt
  if (killedAt === undefined) return [`${isLost}, and the service was not killed`]
  const problems: string[] = []
  if (task.requests.some(other => other.attempt > request.attempt && lifeOf(other, lives) === number))
    problems.push(`${isLost}, and another was sent before the service was killed`)
  const waitedMs = unsettledMs(request, lives)
  if (waitedMs > SETTLE_MS) problems.push(`${isLost}, though its answer came ${waitedMs} ms before the kill`)
  if (killedAt - request.arrivedAt > ATTEMPT_TIMEOUT_MS + SETTLE_MS)
    problems.push(`${isLost}, though it was sent ${killedAt - request.arrivedAt} ms before the kill`)
  return problems
}

/** Of an attempt that never reached the sink, and began at this instant by the clock of the store. */
function isCutOff(startedAt: number, killedAt: number): boolean {
  return startedAt - CLOCKS_DIFFER_MS <= killedAt && killedAt <= startedAt + SETTLE_MS + CLOCKS_DIFFER_MS
}

function unsettledMs(request: SinkRequest | undefined, lives: readonly Life[]): number {
  if (request?.answeredAt === undefined) return 0
  const killedAt = lives[lifeOf(request, lives)]?.killedAt ?? request.answeredAt
  return Math.max(0, killedAt - request.answeredAt)
}

function duplicatesOf({ requests }: TaskEntry): number {
  const first = requests.findIndex(
    ({ answer, answeredAt }) => answeredAt !== undefined && (answer === 'success' || answer === 'refusal'),
  )
  return first === -1 ? 0 : requests.length - 1 - first
}
