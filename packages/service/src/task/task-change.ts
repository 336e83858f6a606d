import type { GiveUpReason } from '@secondwind/resilience'
import type { Settlement } from './settle.ts'
import type { AttemptEnd, AttemptOutcome, ClaimedTask, Task, TaskStatus } from './task.ts'

/** What a task has become, for whoever watches it: less than the task, so that telling everybody is cheap. */
export interface TaskChange {
  readonly tenant: string
  readonly taskId: string
  readonly destination: string
  readonly status: TaskStatus
  /** Attempts made, without one that is under way. */
  readonly attemptNumber: number
  /** Of a `PENDING` task. */
  readonly nextAttemptAt?: number
  /** Of an `EXHAUSTED` one. */
  readonly reason?: GiveUpReason
  /** How the newest attempt ended. */
  readonly outcome?: AttemptOutcome
  readonly responseStatus?: number
  readonly errorCode?: string
}

/** As the store has it. */
export function changeOf({ tenant, taskId, destination, progress, state, lastAttempt }: Task): TaskChange {
  return {
    tenant,
    taskId,
    destination,
    status: state.status,
    attemptNumber: progress.attemptNumber,
    ...(state.status === 'PENDING' && { nextAttemptAt: state.nextAttemptAt }),
    ...(state.status === 'EXHAUSTED' && { reason: state.reason }),
    ...(lastAttempt !== undefined && endOf(lastAttempt)),
  }
}

/** Its request is about to be sent. */
export function startOf({ tenant, taskId, destination, progress }: ClaimedTask): TaskChange {
  return { tenant, taskId, destination, status: 'IN_FLIGHT', attemptNumber: progress.attemptNumber }
}

/** As a settlement left it; `status` is the store's word, for somebody may have cancelled it meanwhile. */
export function settledOf(task: ClaimedTask, { attempt, next }: Settlement, status: TaskStatus): TaskChange {
  const { tenant, taskId, destination } = task
  return {
    tenant,
    taskId,
    destination,
    status,
    attemptNumber: next.progress.attemptNumber,
    ...(next.status === 'PENDING' && status === 'PENDING' && { nextAttemptAt: next.dueAt }),
    ...(next.status === 'EXHAUSTED' && status === 'EXHAUSTED' && { reason: next.reason }),
    ...(attempt !== undefined && endOf(attempt)),
  }
}

/** Without its message: that is for those who read the task. */
function endOf({ outcome, responseStatus, errorCode }: AttemptEnd): Pick<TaskChange, 'outcome'> {
  return {
    outcome,
    ...(responseStatus !== undefined && { responseStatus }),
    ...(errorCode !== undefined && { errorCode }),
  }
}
