import { checkFields, milliseconds, oneOf, wholeNumber, type Problem } from '../check/problems.ts'
import type { RatioBudget } from '../budget/policy.ts'

/** How many leaves at once, and when a fan-out has enough of them. */
export interface FanOutPolicy {
  /** Leaves under way at the same time, also those that wait to be retried. */
  readonly concurrency: number
  /** What is kept of the parent's time to put an answer together: the leaves end so much earlier. */
  readonly reserveMs: number
  /** So many successes are enough, and the other leaves are cancelled; absent: all are waited for. */
  readonly minSuccesses?: number
}

export const DEFAULT_FAN_OUT: FanOutPolicy = {
  concurrency: 100, // any page's reads at once; ten thousand would be an attack on their own server
  reserveMs: 50, // to merge and to send what came; more is the leaves' to lose
}

/** Of thirty leaves three may be retried: more fail together only when something is down. */
export const LEAF_BUDGET: RatioBudget = {
  kind: 'ratio',
  ratio: 0.1, // as for all calls of a process: a tenth more load harms nobody
  minRetries: 2, // the few leaves of a small fan-out may lose one, and lose it twice
  windowMs: 315_576_000_000, // the whole fan-out, however long: nothing comes back within it
}

/** How a batch is cut, and what becomes of a chunk that is refused as a whole. */
export interface BatchPolicy {
  /** Items in one call. */
  readonly maxItems: number
  /** Chunks under way at the same time; with one, no item is sent before those that precede it have ended. */
  readonly concurrency: number
  /**
   * A chunk whose call failed as a whole is halved until the item that spoils it is alone: after a `permanent` failure,
   * `always`, that is also when its attempts are spent, or `never`. Each half is paid for as a retry.
   */
  readonly isolate: 'permanent' | 'always' | 'never'
}

export const DEFAULT_BATCH: BatchPolicy = {
  maxItems: 100, // within what most bulk interfaces take; some take ten
  concurrency: 1, // items of a batch often have an order
  isolate: 'permanent', // a call that fails for a while says nothing about its items, and halves would double the load
}

export function checkFanOut({ concurrency, reserveMs, minSuccesses }: Partial<FanOutPolicy>): Problem[] {
  const fields = { concurrency: anyCount, reserveMs: milliseconds(), minSuccesses: anyCount }
  return checkFields({ concurrency, reserveMs, minSuccesses }, fields)
}

export function checkBatch({ maxItems, concurrency, isolate }: Partial<BatchPolicy>): Problem[] {
  const fields = { maxItems: anyCount, concurrency: anyCount, isolate: oneOf('permanent', 'always', 'never') }
  return checkFields({ maxItems, concurrency, isolate }, fields)
}

const anyCount = wholeNumber(1, 100_000)
