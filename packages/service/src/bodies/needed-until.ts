/** Until when the bytes of a large body are kept: they outlast each task that needs them, as long as `retention.ts` keeps it. */
import type { Progress } from '../task/task.ts'

const DAY_MS = 86_400_000

/** The caller has a day to name its upload in a task. */
export function neededAfterUpload(now: number): number {
  return now + DAY_MS
}

/** A task is sent until its deadline, and shown for a week after its end. */
export function neededForTask({ expiresAt }: Pick<Progress, 'expiresAt'>): number {
  return expiresAt + 7 * DAY_MS
}

/** A dead letter is kept for a month, and can be replayed until then. */
export function neededForDeadLetter(endedAt: number): number {
  return endedAt + 30 * DAY_MS
}
