/**
 * Recall: the first answer after a silence makes the tasks due that failed meanwhile. Without it, ten tasks that waited
 * out an outage of an hour come up to an hour late, by their own back-off.
 */
import type { Outcome } from '../classify/outcome.ts'

/** The latest that failed in a lane; the others keep their own schedule. More would be a wave that the purses hold back. */
export const MOST_RECALLED = 200

/** They come back spread over so long. */
const RECALL_WITHIN_MS = 1_000

/** Whether a task may come back early: a destination that named a wait is never hurried. */
export function mayBeRecalled(outcome: Outcome): boolean {
  return outcome.kind === 'failure' && outcome.fault !== 'throttled' && outcome.retryAfterMs === undefined
}

export function recallAt(now: number, roll: number): number {
  return now + Math.floor(RECALL_WITHIN_MS * roll)
}
