/**
 * The yardstick: the loop a careful engineer writes by hand, with signal, predicate, full jitter and deadline.
 * The wait is abortable exactly when there is a signal to abort it.
 */
import { type Calls, isTransient, LONG_DELAY_MS } from './contender.ts'

interface LoopPolicy {
  readonly maxAttempts: number
  readonly initialDelayMs: number
  readonly multiplier: number
  readonly maxDelayMs: number
  readonly totalBudgetMs: number
}

interface LoopAttempt<S> {
  readonly attempt: number
  readonly signal: S
}

export async function retryLoop<T, S extends AbortSignal | undefined>(
  action: (attempt: LoopAttempt<S>) => Promise<T>,
  policy: LoopPolicy,
  signal: S,
): Promise<T> {
  const deadline = performance.now() + policy.totalBudgetMs
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted()
    try {
      return await action({ attempt, signal })
    } catch (error) {
      if (attempt >= policy.maxAttempts || !isTransient(error)) throw error
      const ceilingMs = Math.min(policy.maxDelayMs, policy.initialDelayMs * policy.multiplier ** (attempt - 1))
      const delayMs = Math.random() * ceilingMs
      if (performance.now() + delayMs > deadline) throw error
      await sleep(delayMs, signal)
    }
  }
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return new Promise(resolve => setTimeout(resolve, ms))
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

export const USUAL: LoopPolicy = {
  maxAttempts: 3,
  initialDelayMs: 100,
  multiplier: 2,
  maxDelayMs: 5_000,
  totalBudgetMs: 30_000,
}
// A timer waits at least 1 ms, so that jitter below that is none.
export const SOON: LoopPolicy = { ...USUAL, initialDelayMs: 1, maxDelayMs: 1 }
const LONG: LoopPolicy = { ...USUAL, initialDelayMs: LONG_DELAY_MS, maxDelayMs: LONG_DELAY_MS }

export const calls: Calls = {
  succeeds: action => retryLoop(action, USUAL, undefined),
  succeedsByLiteral: action =>
    retryLoop(
      action,
      { maxAttempts: 3, initialDelayMs: 100, multiplier: 2, maxDelayMs: 5_000, totalBudgetMs: 30_000 },
      undefined,
    ),
  readsSignal: action => retryLoop(action, USUAL, new AbortController().signal),
  retriesSoon: action => retryLoop(action, SOON, undefined),
  waitsLong: action => retryLoop(action, LONG, undefined),
  waitsLongJittered: action => retryLoop(action, LONG, undefined),
  pipelineSucceeds: action => retryLoop(action, USUAL, undefined),
  pipelineWithSignal: action => retryLoop(action, USUAL, undefined),
  pipelineReadsSignal: action => retryLoop(action, USUAL, new AbortController().signal),
  pipelineWaitsLong: action => retryLoop(action, LONG, undefined),
}
