import type { RetryPolicyInput } from '@secondwind/resilience'

/** How a client retries its own calls: six attempts, spread over some three seconds. */
export const DEFAULT_CLIENT_POLICY: RetryPolicyInput = {
  maxAttempts: 6, // a service that is restarted is back by then
  initialDelayMs: 200,
  maxDelayMs: 3_000,
  totalBudgetMs: 30_000, // somebody's own call has failed already, and waits for this one
  attemptTimeoutMs: 10_000, // the largest batch over a slow line
}
