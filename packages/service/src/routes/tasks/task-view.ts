import type { Explanation, RetryTask } from '@secondwind/client'
import type { ListedTask } from '../../stores/store.ts'
import type { NewTask } from '../../task/accept.ts'
import { explain } from '../../task/explain.ts'
import { holdOn, type Dispatching, type Hold } from '../../task/lane-view.ts'
import { laneKey } from '../../task/lane.ts'
import type { Task } from '../../task/task.ts'
import type { ApiContext } from '../context.ts'
import { isSecretName, REDACTED } from '../../secrets.ts'

/** A task as it is read, with the sentence that says why it waits. */
export function taskView(task: Task | ListedTask, context: ApiContext): RetryTask {
  return shownTask(task, task.state.status === 'PENDING' ? { waits: sentence(task, context) } : {})
}

/** A task without its body and without secrets. So it is shown to those who hand it over; reading it says why it waits. */
export function shownTask(task: Task | ListedTask, more: Pick<RetryTask, 'waits'> = {}): RetryTask {
  const { request, progress, state, policy, deadlineAt, metadata, callbackUrl, createdBy, lastAttempt } = task
  const bodyBytes = bytesOfBody(request)
  return {
    taskId: task.taskId,
    tenant: task.tenant,
    status: state.status,
    attemptNumber: progress.attemptNumber,
    ...stateView(task),
    ...more,
    ...(lastAttempt !== undefined && { lastAttempt }),
    targetUrl: request.targetUrl,
    method: request.method,
    headers: redactHeaders(request.headers),
    ...(bodyBytes !== undefined && { bodyBytes }),
    ...(request.storedBody !== undefined && { bodyRef: request.storedBody.bodyRef }),
    destination: task.destination,
    policyId: task.policyId,
    policyVersion: task.policyVersion,
    ...(policy !== undefined && { policy }),
    idempotencyKey: task.idempotencyKey,
    createdAt: task.createdAt,
    expiresAt: progress.expiresAt,
    ...(deadlineAt !== undefined && { deadlineAt }),
    generation: progress.generation,
    ...(metadata !== undefined && { metadata }),
    ...(callbackUrl !== undefined && { callbackUrl }),
    ...(createdBy !== undefined && { createdBy }),
    version: task.version,
  }
}

/** Undefined in a list for a body that is kept with its task: no list reads it. */
function bytesOfBody(request: Task['request'] | ListedTask['request']): number | undefined {
  if (request.storedBody !== undefined) return request.storedBody.sizeBytes
  return 'body' in request ? (request.body?.length ?? 0) : undefined
}

function stateView({ state }: Pick<Task, 'state'>): Partial<RetryTask> {
  switch (state.status) {
    case 'PENDING':
      return { nextAttemptAt: state.nextAttemptAt }
    case 'IN_FLIGHT':
      return state.lease.cancelRequested ? { cancelRequested: true } : {}
    case 'EXHAUSTED':
      return {
        endedAt: state.endedAt,
        reason: state.reason,
        ...(state.held !== undefined && { heldBy: state.held.by, heldSince: state.held.since }),
      }
    case 'SUCCEEDED':
    case 'CANCELLED':
      return { endedAt: state.endedAt }
  }
}

export function explanationOf(task: Task, context: ApiContext): Explanation {
  const { taskId, state } = task
  const hold = holdOf(task, context.dispatching)
  return {
    taskId,
    status: state.status,
    explanation: sentence(task, context),
    ...(state.status === 'PENDING' && { nextAttemptAt: state.nextAttemptAt }),
    ...(hold !== undefined && { hold }),
  }
}

/** The gate that keeps it. */
function holdOf({ tenant, destination, state }: Task, dispatching: Dispatching): Hold | undefined {
  if (state.status !== 'PENDING') return undefined
  const view = dispatching.view(laneKey({ tenant, destination }))
  return view && holdOn(view, state.queue)
}

function sentence(task: Omit<Task, 'request'>, { dispatching, clock }: ApiContext): string {
  return explain(task, dispatching.view(laneKey(task)), clock.now())
}

/** Stores count versions from here. */
const FIRST_VERSION = 1

/** A task as the store has it right after it took it in, without a reading. */
export function asCreated(task: NewTask): Task {
  const { dueAt: nextAttemptAt, queue } = task
  return { ...task, state: { status: 'PENDING', nextAttemptAt, queue }, version: FIRST_VERSION }
}

type Headers = { readonly [name: string]: string }

/** The same headers for everybody's eyes. Most have no secret, and come back as they are. */
export function redactHeaders(headers: Headers): Headers {
  for (const name in headers)
    if (isSecretName(name))
      return Object.fromEntries(
        Object.entries(headers).map(([each, value]) => [each, isSecretName(each) ? REDACTED : value]),
      )
  return headers
}
