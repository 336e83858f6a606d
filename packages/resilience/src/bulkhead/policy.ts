import {
  checkFields,
  isRecord,
  milliseconds,
  wholeNumber,
  withoutUndefined,
  type Fields,
  type Problem,
} from '../check/problems.ts'

/**
 * How many calls of one dependency may be under way at the same time, so that a slow one does not take every
 * connection and all memory with it. A slot is given back while an operation waits for its next attempt. Plain JSON.
 */
export interface BulkheadPolicy {
  /** Calls under way at the same time. */
  readonly limit: number
  /** So many more may wait for a slot; whoever comes then is refused at once. */
  readonly maxQueued: number
  /** Nobody waits longer for a slot, and never past the deadline. */
  readonly maxWaitMs: number
}

/** Fifty at a time, twenty-five waiting, none of them longer than a second. */
export const DEFAULT_BULKHEAD: BulkheadPolicy = {
  limit: 50, // at 100 ms a call, five hundred calls a second: more than most clients make
  maxQueued: 25, // half the limit (Google SRE, ch. 22): a longer queue makes answers late, not possible
  maxWaitMs: 1_000, // a slot that does not come within a second comes too late for most callers
}

export type BulkheadInput = Partial<BulkheadPolicy>

export function withBulkheadDefaults(input: BulkheadInput): BulkheadPolicy {
  const policy = { ...DEFAULT_BULKHEAD, ...withoutUndefined(input) }
  // Whoever chose another limit meant a queue in proportion to it.
  if (input.maxQueued === undefined) policy.maxQueued = Math.ceil(policy.limit / 2)
  return policy
}

/** All problems of a bulkhead's document. */
export function checkBulkhead(input: unknown, path = ''): Problem[] {
  if (!isRecord(input))
    return [{ at: path, is: input, say: 'must be an object with the fields of a bulkhead; {} has its defaults' }]
  const at = path && `${path}.`
  const problems = checkFields(input, fields(), WRONG_WORDS, at)
  const { maxQueued, maxWaitMs = DEFAULT_BULKHEAD.maxWaitMs } = input
  // The default is no wish: it stands in every completed document.
  if (problems.length === 0 && maxQueued === 0 && maxWaitMs !== DEFAULT_BULKHEAD.maxWaitMs)
    problems.push({ at: `${at}maxWaitMs`, is: maxWaitMs, say: 'has no effect: with maxQueued 0 nobody waits' })
  return problems
}

/** Made when a document is checked: whoever lives with the defaults need not carry it. */
function fields(): Fields {
  return {
    limit: wholeNumber(1, 1e6),
    maxQueued: wholeNumber(0, 1e6),
    maxWaitMs: milliseconds(1),
  }
}

/** What other libraries call it. */
const WRONG_WORDS = {
  maxConcurrent: 'limit',
  maxConcurrentCalls: 'limit',
  capacity: 'limit',
  queue: 'maxQueued',
  maxQueue: 'maxQueued',
  maxWait: 'maxWaitMs',
}
