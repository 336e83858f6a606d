import { classifyError, UNKNOWN } from '../classify/classify-error.ts'
import { failure, FAULTS, SUCCESS, type Failure, type Fault, type Outcome } from '../classify/outcome.ts'
import { InvalidAnswerError } from '../errors.ts'
import type { RetryOptions } from './options.ts'
import type { Setup } from './setup.ts'

/** What a thrown error means: by the caller's judgement where there is one, else by the ordinary rules. */
export function judge<T, A>(error: unknown, { policy, options, clock }: Setup<T, A>): Failure {
  const own = options.classify?.(error)
  if (own !== undefined) return asFailure('classify', own)
  try {
    // Only a wait that is given as a date makes no number of this; for all others the clock need not be read.
    const found = classifyError(error, policy.retryableStatusCodes, NaN)
    return Number.isNaN(found.retryAfterMs) ? classifyError(error, policy.retryableStatusCodes, clock.now()) : found
  } catch {
    // An error that cannot be looked at says nothing; it is thrown as it is.
    return UNKNOWN
  }
}

/** What a returned value means: a success, unless the caller's judgement says something else. */
export function judgeValue<T>(value: T, classifyResult: RetryOptions<T>['classifyResult']): Outcome {
  const own = classifyResult?.(value)
  const isSuccess = own === undefined || (Object(own) as Partial<Outcome>).kind === 'success'
  return isSuccess ? SUCCESS : asFailure('classifyResult', own)
}

/** Checked, for a misspelt word or a promise would pass for a success, or for a fault that no rule knows. */
function asFailure(who: string, own: Fault | Outcome): Failure {
  const found = typeof own === 'string' ? failure(own) : own
  if (found?.kind === 'failure' && FAULTS.includes(found.fault)) return found
  throw new InvalidAnswerError(who, own, `${FAULTS.join(', ')}, { kind: 'failure', fault } or undefined`)
}
