/** Ours, from the built files: what is published is what is measured. */
import { createBudget, pipeline, retry, RetryEngine } from '../../packages/resilience/dist/index.js'
import { type Calls, LONG_DELAY_MS } from './contender.ts'

// The default budget would, rightly, refuse works in which every call is retried.
const budget = createBudget({ kind: 'ratio', ratio: 1, windowMs: 10_000, minRetries: 1_000_000 })
const options = { budget }

const SOON = { maxAttempts: 3, initialDelayMs: 1, jitterType: 'NONE' } as const
const LONG = {
  maxAttempts: 3,
  initialDelayMs: LONG_DELAY_MS,
  maxDelayMs: LONG_DELAY_MS,
  jitterType: 'FULL',
} as const

const around = pipeline({ name: 'bench', retry: {}, breaker: {}, bulkhead: {} })
const waiting = pipeline({
  name: 'waiting',
  retry: LONG,
  breaker: { minCalls: 1_000_000_000 },
  bulkhead: { limit: 1_000_000 },
  budget,
})
const hedged = pipeline({ name: 'hedged', retry: {}, hedge: { delayMs: 1_000 }, idempotent: true })
const limited = pipeline({ name: 'limited', retry: {}, limiter: { kind: 'gradient2' } })
const throttled = pipeline({ name: 'throttled', retry: {}, throttle: {} })
const { signal } = new AbortController()

export const calls: Calls = {
  succeeds: action => retry(action),
  succeedsByLiteral: action =>
    retry(action, {
      maxAttempts: 3,
      initialDelayMs: 100,
      multiplier: 2,
      maxDelayMs: 5_000,
      totalBudgetMs: 30_000,
    }),
  readsSignal: action => retry(action),
  retriesSoon: action => retry(action, SOON, options),
  waitsLong: action => retry(action, LONG, options),
  waitsLongJittered: action => retry(action, LONG, options),
  pipelineSucceeds: action => around.run(action),
  pipelineWithSignal: action => around.run(action, { signal }),
  pipelineReadsSignal: action => around.run(action),
  pipelineWaitsLong: action => waiting.run(action),
  hedged: action => hedged.run(action),
  limited: action => limited.run(action),
  throttled: action => throttled.run(action),
  newEngine: () => new RetryEngine(),
}
