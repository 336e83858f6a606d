import { classifyError, UNKNOWN } from '../classify/classify-error.ts'
import { failure, type Failure } from '../classify/outcome.ts'
import type { Setup } from './setup.ts'

/** What a thrown error means: by the caller's judgement where there is one, else by the ordinary rules. */
export function judge<T, A>(error: unknown, { policy, options, clock }: Setup<T, A>): Failure {
  const own = options.classify?.(error)
  if (own !== undefined) return typeof own === 'string' ? failure(own) : own
  try {
    // Only a wait that is given as a date makes no number of this; for all others the clock need not be read.
    const found = classifyError(error, policy.retryableStatusCodes, NaN)
    return Number.isNaN(found.retryAfterMs) ? classifyError(error, policy.retryableStatusCodes, clock.now()) : found
  } catch {
    // An error that cannot be looked at says nothing; it is thrown as it is.
    return UNKNOWN
  }
}
