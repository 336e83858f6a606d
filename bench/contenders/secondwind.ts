/** Ours, from the built files: what is published is what is measured. */
import { createBudget, retry, RetryEngine } from '../../packages/resilience/dist/index.js'
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
  newEngine: () => new RetryEngine(),
}
