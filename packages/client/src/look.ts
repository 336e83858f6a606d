import { DEFAULT_POLICY, delayMs, type RetryPolicy } from '@secondwind/resilience'
import type { RetryTask, TaskStatus } from './wire/task.ts'

/** When to look at a task again. Pure. */
export interface Looked {
  readonly task: Pick<RetryTask, 'nextAttemptAt'> | undefined
  /** Looks in a row that saw nothing new, the latest included; the first is 1. */
  readonly looks: number
  readonly now: number
  readonly roll: number
}

/** Between looks at a task of which anything can become at any moment. */
const LOOKS: RetryPolicy = {
  ...DEFAULT_POLICY,
  initialDelayMs: 50, // a quick target has answered by then
  maxDelayMs: 5_000, // whoever has waited for minutes does not notice, and the service does
  jitterType: 'EQUAL', // those who wait for the same thing look one after the other
}

/** Somebody may cancel a task, or ask for an attempt now, long before its time; and two clocks may differ. */
const LONGEST_ABSENCE_MS = 30_000

/** Before its next attempt nothing becomes of a task by itself; from then on soon, and later more and more rarely. */
export function nextLookMs({ task, looks, now, roll }: Looked): number {
  const untilAttemptMs = Math.max(0, (task?.nextAttemptAt ?? now) - now)
  const ownMs = delayMs(LOOKS, { attempt: looks, previousDelayMs: LOOKS.initialDelayMs }, roll)
  return Math.min(untilAttemptMs, LONGEST_ABSENCE_MS) + ownMs
}

const HAS_ENDED: { readonly [status in TaskStatus]: boolean } = {
  PENDING: false,
  IN_FLIGHT: false,
  SUCCEEDED: true,
  EXHAUSTED: true,
  CANCELLED: true,
}

export function hasEnded({ status }: Pick<RetryTask, 'status'>): boolean {
  return HAS_ENDED[status]
}
