/** Every metric by its name, with what its help line says. Seconds, counts and states; `docs/observing.md` has them all. */
export const COUNTERS = {
  retry_attempts_total: 'Calls made, first attempts and retries.',
  retry_retries_total: 'Calls made again.',
  retry_successes_total: 'Operations that succeeded.',
  retry_budget_denied_total: 'Operations that ended because the retry budget was empty.',
  retry_breaker_denied_total: 'Operations that ended because the breaker was open.',
  retry_cancelled_total: 'Operations that their caller aborted.',
} as const

export type CounterName = keyof typeof COUNTERS

export const GIVEUPS = { name: 'retry_giveups_total', help: 'Operations that ended without success, by reason.' }

/** From a cache's answer to the patience of a person, a time-out and a deadline; finer nobody reads off a chart. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** One by one where policies for people end, coarser where those for machines do. */
const ATTEMPTS = [1, 2, 3, 4, 5, 7, 10, 15]

export type HistogramName =
  | 'retry_attempt_at_success'
  | 'retry_delay_seconds'
  | 'retry_attempt_duration_seconds'
  | 'retry_operation_duration_seconds'

/** Where each bucket ends; the last one, which never does, goes without saying. */
export const HISTOGRAMS: {
  readonly [name in HistogramName]: { readonly help: string; readonly buckets: readonly number[] }
} = {
  retry_attempt_at_success: { help: 'The attempt that succeeded; the first is 1.', buckets: ATTEMPTS },
  retry_delay_seconds: { help: 'Waits between attempts, as decided.', buckets: SECONDS },
  retry_attempt_duration_seconds: { help: 'How long attempts took.', buckets: SECONDS },
  retry_operation_duration_seconds: { help: 'How long operations took, waits included.', buckets: SECONDS },
}

export const GAUGES = {
  retry_breaker_state: 'Breakers in each state.',
  retry_budget_balance: 'Retries that the budget could pay for now.',
  retry_concurrency_limit: 'Calls that the limiter lets run at once.',
} as const

export type GaugeName = keyof typeof GAUGES
