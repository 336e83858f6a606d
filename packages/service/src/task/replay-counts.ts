import type { AttemptOutcome, TaskStatus } from './task.ts'

/**
 * What became of the tasks that a replay of many brought back.
 *
 *   moved = waiting + sent + those that ended unsent
 *   moved = succeeded + exhausted + cancelled + those that are still under way
 */
export interface ReplayCounts {
  /** Dead letters that began their next generation. */
  readonly moved: number
  /** Of these, the ones whose first attempt has not been made. */
  readonly waiting: number
  /** First attempts that were made, and those of them that failed. */
  readonly sent: number
  readonly failed: number
  readonly succeeded: number
  readonly exhausted: number
  readonly cancelled: number
  /** How the newest first attempts went, the oldest first: `0` well, `1` failed. */
  readonly recent: string
}

export const NO_COUNTS: ReplayCounts = {
  moved: 0,
  waiting: 0,
  sent: 0,
  failed: 0,
  succeeded: 0,
  exhausted: 0,
  cancelled: 0,
  recent: '',
}

/** As far as any stop rule looks back. */
export const MOST_RECENT = 200

/** One write of a task that was brought back. */
export interface ReplayedChange {
  /** Of its first attempt, where this write brings it. */
  readonly firstOutcome?: AttemptOutcome | undefined
  readonly status: TaskStatus
  /** Attempts made in its generation, with this one. */
  readonly attemptNumber: number
}

export function countMoved(counts: ReplayCounts): ReplayCounts {
  return { ...counts, moved: counts.moved + 1, waiting: counts.waiting + 1 }
}

export function countChange(counts: ReplayCounts, change: ReplayedChange): ReplayCounts {
  return countEnd(countFirst(counts, change), change)
}

function countFirst(counts: ReplayCounts, { firstOutcome, status }: ReplayedChange): ReplayCounts {
  if (firstOutcome === undefined) return counts
  // What somebody cancelled says nothing about its target, and neither does what is to be ignored.
  const hasFailed = firstOutcome !== 'success' && firstOutcome !== 'ignored' && status !== 'CANCELLED'
  return {
    ...counts,
    waiting: counts.waiting - 1,
    sent: counts.sent + 1,
    failed: counts.failed + Number(hasFailed),
    recent: `${counts.recent}${Number(hasFailed)}`.slice(-MOST_RECENT),
  }
}

function countEnd(counts: ReplayCounts, { status, attemptNumber }: ReplayedChange): ReplayCounts {
  const waiting = counts.waiting - Number(attemptNumber === 0)
  switch (status) {
    case 'PENDING':
    case 'IN_FLIGHT':
      return counts
    case 'SUCCEEDED':
      return { ...counts, waiting, succeeded: counts.succeeded + 1 }
    case 'EXHAUSTED':
      return { ...counts, waiting, exhausted: counts.exhausted + 1 }
    case 'CANCELLED':
      return { ...counts, waiting, cancelled: counts.cancelled + 1 }
  }
}
