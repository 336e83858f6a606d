import type { Random } from '@secondwind/resilience'
import { attemptHeaders } from '@secondwind/resilience/rules'
import type { ClaimedTask } from '../task/task.ts'
import type { DispatchPorts } from './ports.ts'
import { signatureHeaders } from './signature.ts'

interface Sent {
  readonly body: Uint8Array | null
  readonly timeoutMs: number
}

/** What an attempt says of itself, and by whom it is sent. */
export function signedHeadersOf(
  task: ClaimedTask,
  { body, timeoutMs }: Sent,
  { clock, random, signingSecretsOf }: DispatchPorts,
): { readonly [name: string]: string } {
  const headers = headersOf(task, timeoutMs, random)
  const secrets = signingSecretsOf?.(task) ?? []
  if (secrets.length === 0) return headers
  return { ...headers, ...signatureHeaders({ taskId: task.taskId, body, sentAt: clock.now() }, secrets) }
}

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
  const given = traceparentIn(request.headers)
  const known = given === undefined ? null : TRACEPARENT.exec(given)
  const parent = hex(random() * 2 ** 32) + hex((random() * 2 ** 32) | 1)
  return known === null ? `00-${digitsOf(taskId)}-${parent}-00` : `00-${known[1]}-${parent}-${known[2]}`
}

/** Of a UUID, without its dashes. */
function digitsOf(id: string): string {
  return id.slice(0, 8) + id.slice(9, 13) + id.slice(14, 18) + id.slice(19, 23) + id.slice(24)
}

const TRACEPARENT_LENGTH = 'traceparent'.length

function traceparentIn(headers: { readonly [name: string]: string }): string | undefined {
  for (const name in headers)
    if (name.length === TRACEPARENT_LENGTH && name.toLowerCase() === 'traceparent') return headers[name]
  return undefined
}

const BYTES: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** 32 bits in eight digits, by looking them up: it is done for every request. */
function hex(number: number): string {
  return (
    BYTES[(number >>> 24) & 255]! + BYTES[(number >>> 16) & 255]! + BYTES[(number >>> 8) & 255]! + BYTES[number & 255]!
  )
}
