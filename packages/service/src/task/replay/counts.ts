import type { AttemptOutcome, TaskStatus } from '../task.ts'

/**
 * What became of the tasks that a replay of many brought back.
 *
 *   moved = waiting + underWay + sent + those that ended unsent
 *   moved = succeeded + exhausted + cancelled + those that have not ended
 */
export interface ReplayCounts {
  /** Dead letters that began their next generation. */
  readonly moved: number
  /** Of these, the ones whose first attempt has not begun. */
  readonly waiting: number
  /** First attempts that have begun. */
  readonly underWay: number
  /** First attempts whose end is known, and those of them that failed. */
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
  underWay: 0,
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
  readonly from: TaskStatus
  readonly status: TaskStatus
  /** Attempts made in its generation, with the one that this write brings. */
  readonly attemptNumber: number
  /** Of its first attempt, where this write brings it. */
  readonly firstOutcome?: AttemptOutcome | undefined
}

export function countMoved(counts: ReplayCounts): ReplayCounts {
  return { ...counts, moved: counts.moved + 1, waiting: counts.waiting + 1 }
}

export function countChange(counts: ReplayCounts, change: ReplayedChange): ReplayCounts {
  return countEnd(countFirst(countUnsent(counts, change), change), change)
}

/** As long as no attempt is known to have been made, a task waits or is under way. */
function countUnsent(counts: ReplayCounts, change: ReplayedChange): ReplayCounts {
  const { from, status, attemptNumber, firstOutcome } = change
  if (attemptNumber > 0 && firstOutcome === undefined) return counts
  const isUnsent = attemptNumber === 0
  const came = (to: TaskStatus): number => Number(isUnsent && status === to) - Number(from === to)
  return {
    ...counts,
    waiting: counts.waiting + came('PENDING'),
    underWay: counts.underWay + came('IN_FLIGHT'),
  }
}

function countFirst(counts: ReplayCounts, { firstOutcome, status }: ReplayedChange): ReplayCounts {
  if (firstOutcome === undefined) return counts
  // What somebody cancelled says nothing about its target, and neither does what is to be ignored.
  const hasFailed = firstOutcome !== 'success' && firstOutcome !== 'ignored' && status !== 'CANCELLED'
  return {
    ...counts,
    sent: counts.sent + 1,
    failed: counts.failed + Number(hasFailed),
    recent: `${counts.recent}${Number(hasFailed)}`.slice(-MOST_RECENT),
  }
}

function countEnd(counts: ReplayCounts, { status }: ReplayedChange): ReplayCounts {
  switch (status) {
    case 'PENDING':
    case 'IN_FLIGHT':
      return counts
    case 'SUCCEEDED':
      return { ...counts, succeeded: counts.succeeded + 1 }
    case 'EXHAUSTED':
      return { ...counts, exhausted: counts.exhausted + 1 }
    case 'CANCELLED':
      return { ...counts, cancelled: counts.cancelled + 1 }
  }
}
