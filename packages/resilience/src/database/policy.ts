import { DEFAULT_POLICY, type RetryPolicy } from '../retry/policy.ts'

/** How often one looks where nobody notifies: soon at first, then every second, for half a minute. */
export const DEFAULT_WAIT: RetryPolicy = {
  ...DEFAULT_POLICY,
  initialDelayMs: 50, // most locks are held for less; a tenth of a second would be felt
  maxDelayMs: 1_000, // a look a second is no load, and nobody waits much longer than they must
  jitterType: 'EQUAL', // spread, but never at once: a look that follows a look sees the same
}
