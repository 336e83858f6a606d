import { failure, SUCCESS, type Outcome } from './outcome.ts'

/** What an HTTP status means to a caller whose policy retries `retryableStatusCodes`. */
export function classifyStatus(
  status: number,
  retryableStatusCodes: readonly number[],
  retryAfterMs?: number,
): Outcome {
  if (retryableStatusCodes.includes(status)) return retryableStatus(status, retryAfterMs)
  return status < 400 ? SUCCESS : failure('permanent')
}

function retryableStatus(status: number, retryAfterMs: number | undefined): Outcome {
  // RFC 6585: 429 is a request to slow down; so is a 503 that names a time.
  if (status === 429 || (status === 503 && retryAfterMs !== undefined)) return failure('throttled', retryAfterMs)
  // RFC 9110 §15.6.5: behind a gateway that gave up waiting, the work may have been done.
  return failure(status === 504 ? 'ambiguous' : 'transient', retryAfterMs)
}
