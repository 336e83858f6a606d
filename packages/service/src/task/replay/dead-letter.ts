import type { GiveUpReason } from '@secondwind/resilience'
import type { Task } from '../task.ts'

/** A dead letter without its request. */
export interface DeadLetter extends Pick<
  Task,
  'taskId' | 'tenant' | 'destination' | 'policyId' | 'policyVersion' | 'policy' | 'progress'
> {
  readonly reason: GiveUpReason
  readonly endedAt: number
}

/** Undefined for a task that is none. */
export function deadLetterOf(task: Task): DeadLetter | undefined {
  const { taskId, tenant, destination, policyId, policyVersion, policy, progress, state } = task
  if (state.status !== 'EXHAUSTED') return undefined
  const { reason, endedAt } = state
  const accepted = { taskId, tenant, destination, policyId, policyVersion, ...(policy !== undefined && { policy }) }
  return { ...accepted, progress, reason, endedAt }
}
