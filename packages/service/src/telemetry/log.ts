import type { Clock } from '@secondwind/resilience'
import { BreakerLog } from './breaker-log.ts'
import type { AttemptEnded, DispatchEvents, Orphan, TaskEnded } from './events.ts'

/** As much of a logger as is needed: pino's, or anybody's. */
export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface LogOptions {
  readonly log: Log
  readonly clock: Clock
  /** Aborted when the service stops: nothing is held back any longer. */
  readonly signal?: AbortSignal
}

/**
 * Writes events down: what an operator has to know at once, and what tells the story of a task afterwards. Nothing of
 * a request or an answer but its status: a log is read by more people than a task.
 */
export function logEvents(options: LogOptions): DispatchEvents {
  const { log, clock } = options
  const isNews = rateLimited(clock)
  const breakers = new BreakerLog(options)
  return {
    attemptEnded(event) {
      // Success is counted; a line for each would be most of the log.
      if (event.outcome !== 'success') log.info(attemptFields(event), 'attempt failed')
    },
    taskChanged() {},
    taskEnded(event) {
      if (event.status === 'EXHAUSTED') log.warn(taskFields(event), 'task given up')
    },
    held() {},
    breakerChanged: event => breakers.tell(event),
    orphan(event) {
      log.warn(attemptFields(event), 'the result of an attempt came after its lease was taken over, and was dropped')
    },
    warning(code, text) {
      const repeats = isNews(code)
      if (repeats !== undefined) log.warn({ code, ...(repeats > 0 && { repeats }) }, text)
    },
  }
}

function attemptFields(event: AttemptEnded | Orphan): object {
  const { taskId, lane, policyId, outcome, responseStatus, errorCode, durationMs } = event
  return { taskId, lane, policyId, outcome, responseStatus, errorCode, durationMs }
}

function taskFields({ taskId, lane, policyId, reason, attemptNumber, ageMs }: TaskEnded): object {
  return { taskId, lane, policyId, reason, attemptNumber, ageMs }
}

/** One line a minute tells an operator as much as a thousand. */
const QUIET_MS = 60_000

/** Codes are few; whoever makes more of them is not given more memory. */
const MOST_CODES = 1_000

/** For a code that may be said now, how often it was held back since; undefined while it may not. */
function rateLimited(clock: Clock): (code: string) => number | undefined {
  const said = new Map<string, { at: number; repeats: number }>()
  return code => {
    const now = clock.monotonic()
    const last = said.get(code)
    if (last !== undefined && now - last.at < QUIET_MS) {
      last.repeats++
      return undefined
    }
    if (last === undefined && said.size >= MOST_CODES) return undefined
    said.set(code, { at: now, repeats: 0 })
    return last?.repeats ?? 0
  }
}
