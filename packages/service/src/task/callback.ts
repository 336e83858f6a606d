import type { GiveUpReason } from '@secondwind/resilience'
import type { TaskOrder } from './accept.ts'
import { destinationOf, type Lane } from './lane.ts'
import type { Task } from './task.ts'
import { SYSTEM } from './system.ts'

/** The end of a task, for whoever wants to hear of it. */
export interface Callback {
  readonly tenant: string
  readonly callbackUrl: string
  readonly taskId: string
  readonly generation: number
  readonly status: 'SUCCEEDED' | 'EXHAUSTED' | 'CANCELLED'
  /** Of a dead letter. */
  readonly reason?: GiveUpReason
  readonly attemptNumber: number
}

/** What is due when a task has become what it is now; undefined when nobody wants to hear of it, or it goes on. */
export function callbackOf({ tenant, callbackUrl, taskId, progress, state }: Task): Callback | undefined {
  if (callbackUrl === undefined || state.status === 'PENDING' || state.status === 'IN_FLIGHT') return undefined
  const { generation, attemptNumber } = progress
  const reason = state.status === 'EXHAUSTED' ? { reason: state.reason } : {}
  return { tenant, callbackUrl, taskId, generation, status: state.status, ...reason, attemptNumber }
}

/** The lane that it is told in. */
export function laneOfCallback({ tenant, callbackUrl }: Pick<Callback, 'tenant' | 'callbackUrl'>): Lane {
  return { tenant, destination: destinationOf(new URL(callbackUrl)) }
}

/** Each generation of a task ends once, and is told of once: the key sees to it. */
function callbackKey({ taskId, generation }: Pick<Callback, 'taskId' | 'generation'>): string {
  return `callback-${taskId}-${generation}`
}

/** Keys of this form are ours: whoever took one would keep a callback from being sent. */
export function isCallbackKey(key: string): boolean {
  return /^callback-[\da-f-]{36}-\d+$/.test(key)
}

/** The request that tells of an end. It asks for no callback itself. */
export function callbackOrder(
  callback: Callback,
  order: { readonly taskId: string; readonly body: Uint8Array },
): TaskOrder {
  const key = callbackKey(callback)
  return {
    taskId: order.taskId,
    ...laneOfCallback(callback),
    request: {
      targetUrl: callback.callbackUrl,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: order.body,
    },
    idempotencyKey: key,
    createdBy: SYSTEM,
    requestHash: key,
  }
}

/** What is told: no more than whoever may know the task's id may know. */
export function callbackText({ taskId, status, reason, attemptNumber }: Callback): string {
  return JSON.stringify({ taskId, status, ...(reason !== undefined && { reason }), attemptNumber })
}
