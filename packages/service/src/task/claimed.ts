import type { ClaimedTask, Task } from './task.ts'

/** A task under way as its holder has it; undefined for any other. */
export function claimedTask(task: Task): ClaimedTask | undefined {
  const { state, version: _, lastAttempt: __, ...accepted } = task
  if (state.status !== 'IN_FLIGHT') return undefined
  const { lease, claimed } = state
  return { ...accepted, lease, claimedAt: claimed.at, dueAt: claimed.dueAt, queue: claimed.queue }
}
