import { classifyError, DEFAULT_POLICY } from '@secondwind/resilience'

/** So long a service that had been there may be away, before somebody should know. */
export const LONGEST_AWAY_MS = 60_000

/** A service that is being restarted is no answer to what was asked. */
export function passes(error: unknown): boolean {
  const { fault } = classifyError(error, DEFAULT_POLICY.retryableStatusCodes, 0)
  return fault !== 'permanent' && fault !== 'ignored'
}
