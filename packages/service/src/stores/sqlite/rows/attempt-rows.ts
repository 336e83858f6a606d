import type { AttemptEnd, AttemptOutcome, AttemptRow, CapturedResponse } from '../../../task/task.ts'

/** An attempt as the log keeps it, beside the state that it led to. */
export type AttemptValues = readonly [
  ordinal: number | null,
  startedAt: number | null,
  durationMs: number | null,
  outcome: AttemptOutcome | null,
  responseStatus: number | null,
  errorCode: string | null,
  errorMessage: string | null,
  response: string | null,
]

export const ATTEMPT_COLUMNS =
  'ordinal, attempt_started_at, duration_ms, outcome, response_status, error_code, error_message, response'

export const NO_ATTEMPT: AttemptValues = [null, null, null, null, null, null, null, null]

export function hasAttempt([ordinal]: AttemptValues): boolean {
  return ordinal !== null
}

export function attemptValues(attempt: AttemptRow): AttemptValues {
  return [
    attempt.attemptNumber,
    attempt.startedAt,
    attempt.durationMs,
    attempt.outcome,
    attempt.responseStatus ?? null,
    attempt.errorCode ?? null,
    attempt.errorMessage ?? null,
    attempt.response === undefined ? null : JSON.stringify(attempt.response),
  ]
}

export function attemptOf(taskId: string, generation: number, values: AttemptValues): AttemptRow {
  const [ordinal, startedAt, durationMs, , , , , response] = values
  return {
    ...attemptEndOf(values),
    taskId,
    generation,
    attemptNumber: ordinal!,
    startedAt: startedAt!,
    durationMs: durationMs!,
    ...(response !== null && { response: JSON.parse(response) as CapturedResponse }),
  }
}

export function attemptEndOf([, , , outcome, responseStatus, errorCode, errorMessage]: AttemptValues): AttemptEnd {
  return {
    outcome: outcome!,
    ...(responseStatus !== null && { responseStatus }),
    ...(errorCode !== null && { errorCode }),
    ...(errorMessage !== null && { errorMessage }),
  }
}
