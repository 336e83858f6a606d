import type { GiveUpReason } from '@secondwind/resilience'
import type { Task, TaskRequest } from '../task.ts'

/** A dead letter without its request. */
export interface DeadLetter extends Pick<
  Task,
  'taskId' | 'tenant' | 'destination' | 'policyId' | 'policyVersion' | 'policy' | 'callbackUrl' | 'progress'
> {
  /** Its large body, which has to be kept for as long as the task goes on. */
  readonly bodyRef?: string
  readonly reason: GiveUpReason
  readonly endedAt: number
}

/** A task as a list has it, or as it is. */
type AnyTask = Omit<Task, 'request'> & { readonly request: Omit<TaskRequest, 'body'> }

/** Undefined for a task in another status. */
export function deadLetterOf(task: AnyTask): DeadLetter | undefined {
  const { taskId, tenant, destination, policyId, policyVersion, policy, callbackUrl, progress, state } = task
  if (state.status !== 'EXHAUSTED') return undefined
  const { reason, endedAt } = state
  const bodyRef = task.request.storedBody?.bodyRef
  return {
    taskId,
    tenant,
    destination,
    policyId,
    policyVersion,
    ...(policy !== undefined && { policy }),
    ...(callbackUrl !== undefined && { callbackUrl }),
    ...(bodyRef !== undefined && { bodyRef }),
    progress,
    reason,
    endedAt,
  }
}
