import type { GiveUpReason } from '@secondwind/resilience'
import { laneOf } from '../../../task/lane.ts'
import type { TaskStatus } from '../../../task/task.ts'
import type { ProgressRow } from '../rows/task-rows.ts'
import type { Writer } from './writer.ts'

export interface Ended {
  readonly seq: number
  readonly status: TaskStatus
  readonly reason: GiveUpReason | null
  readonly progress: ProgressRow
}

/** Keeps an end that somebody wants to hear of, in the write that makes it. */
export function tellEnd({ callbacks, tasks }: Writer, { seq, status, reason, progress }: Ended): void {
  if (status === 'PENDING' || status === 'IN_FLIGHT') return
  const callbackUrl = callbacks.urlOf(seq)
  if (callbackUrl === undefined) return
  const { taskId, lane } = tasks.identityOf(seq)
  const [generation, attemptNumber] = progress
  const { tenant } = laneOf(lane)
  callbacks.add({ tenant, callbackUrl, taskId, generation, status, ...(reason !== null && { reason }), attemptNumber })
}
