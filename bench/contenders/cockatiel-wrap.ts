/** cockatiel's `wrap` of retry, breaker, time-out and bulkhead; it has no budget. */
import {
  bulkhead,
  circuitBreaker,
  ExponentialBackoff,
  fullJitterGenerator,
  handleWhen,
  retry,
  SamplingBreaker,
  timeout,
  TimeoutStrategy,
  wrap,
} from 'cockatiel'
import { type Calls, isTransient } from './contender.ts'

const transient = handleWhen(isTransient)
const around = wrap(
  bulkhead(50, 25),
  circuitBreaker(transient, {
    halfOpenAfter: 30_000,
    breaker: new SamplingBreaker({ threshold: 0.5, duration: 60_000, minimumRps: 1 }),
  }),
  retry(transient, {
    maxAttempts: 2,
    backoff: new ExponentialBackoff({ generator: fullJitterGenerator, initialDelay: 100, maxDelay: 5_000 }),
  }),
  timeout(10_000, TimeoutStrategy.Aggressive),
)
const { signal } = new AbortController()

export const calls: Calls = {
  pipelineSucceeds: action => around.execute(action),
  pipelineWithSignal: action => around.execute(action, signal),
  pipelineReadsSignal: action => around.execute(action),
}
