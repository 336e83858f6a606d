import type { BulkheadPolicy } from './policy.ts'

/** How many are inside, and how many at the door. A call is inside until it has ended, given up or not. */
export interface BulkheadCounts {
  readonly running: number
  readonly queued: number
}

/** What happens to a call that arrives. */
export function admit(policy: BulkheadPolicy, { running, queued }: BulkheadCounts): 'start' | 'queue' | 'refuse' {
  // Whoever waits goes first: newcomers that take each free slot would leave the queue standing.
  if (running < policy.limit && queued === 0) return 'start'
  return queued < policy.maxQueued ? 'queue' : 'refuse'
}

/** How many of the queue may start now. None while more are inside than the limit, which may have been lowered. */
export function mayLeaveQueue(policy: BulkheadPolicy, { running, queued }: BulkheadCounts): number {
  return Math.max(0, Math.min(queued, policy.limit - running))
}

/** Who waits, and until when the answer would still be of use. */
export interface Arrival {
  readonly now: number
  readonly deadlineAt: number
}

/** The end of a wait, for a slot or for a token: whoever has got none by then is refused. */
export function waitEndsAt({ maxWaitMs }: { readonly maxWaitMs: number }, { now, deadlineAt }: Arrival): number {
  return Math.min(now + maxWaitMs, deadlineAt)
}
