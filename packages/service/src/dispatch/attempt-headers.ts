import type { Random } from '@secondwind/resilience'
import { attemptHeaders } from '@secondwind/resilience/rules'
import type { ClaimedTask } from '../task/task.ts'

/** What an attempt says of itself. */
export function headersOf(task: ClaimedTask, remainingMs: number, random: Random): { readonly [name: string]: string } {
  return {
    'idempotency-key': task.idempotencyKey,
    ...attemptHeaders({ attempt: task.progress.attemptNumber + 1, remainingMs }),
    traceparent: traceOf(task, random),
  }
}

/** W3C Trace Context §3.2, version 00. */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/

/**
 * The caller's trace goes on, each attempt with a parent id of its own. Without one the task's own id is the trace: its
 * attempts lie together. We record nothing, and leave it to the target whether to: the flags are 00.
 */
function traceOf({ taskId, request }: ClaimedTask, random: Random): string {
  const given = Object.entries(request.headers).find(([name]) => name.toLowerCase() === 'traceparent')?.[1]
  const [, trace = taskId.replaceAll('-', ''), flags = '00'] = TRACEPARENT.exec(given ?? '') ?? []
  return `00-${trace}-${hex(random)}${hex(random)}-${flags}`
}

/** Never 0, so that no parent id is all zeros. */
function hex(random: Random): string {
  return Math.floor(1 + random() * (2 ** 32 - 1))
    .toString(16)
    .padStart(8, '0')
}
