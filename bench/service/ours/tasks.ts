/** Tasks as the API would hand them to the store: same policy, same ids, keys that callers chose. */
import { presets } from '@secondwind/resilience'
import { hash, randomBytes } from 'node:crypto'
import { accept, type NewTask, type PolicyInForce } from '../../../packages/service/dist/task/accept.js'
import { laneKey, partitionOf, TASK_ID_BYTES, taskIdOf } from '../../../packages/service/dist/task/lane.js'
import { BODY, headersOf } from '../delivery.ts'

const DOCUMENT = presets.service.retry

/** What a task gets that names no policy. */
export const POLICY: PolicyInForce = { policyId: DOCUMENT.policyId!, version: 1, document: DOCUMENT, isInline: false }

export const TENANT = 'default'
const BYTES = new TextEncoder().encode(BODY)

export interface TaskAsk {
  readonly url: string
  /** When it is accepted. */
  readonly now: number
  /** Left out: at once. */
  readonly dueAt?: number
  /** Left out: the task's id, which needs no index of its own. */
  readonly key?: string
}

export function newTask({ url, now, dueAt, key }: TaskAsk): NewTask {
  const destination = new URL(url).origin
  const partition = partitionOf(laneKey({ tenant: TENANT, destination }))
  const taskId = taskIdOf(now, partition, randomBytes(TASK_ID_BYTES))
  const order = {
    taskId,
    tenant: TENANT,
    destination,
    request: { targetUrl: url, method: 'POST', headers: headersOf(dueAt), body: BYTES },
    requestHash: hash('sha256', `${url} ${taskId}`, 'base64url'),
    createdBy: 'bench',
    ...(key !== undefined && { idempotencyKey: key }),
    ...(dueAt !== undefined && { notBefore: dueAt }),
  }
  return accept(order, POLICY, { now, roll: 0 })
}

export function laneOfUrl(url: string): string {
  return laneKey({ tenant: TENANT, destination: new URL(url).origin })
}
