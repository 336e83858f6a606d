import { check } from '@secondwind/resilience/rules'
import { onVersion, type Call, type Caller, type ChangeCall } from './caller.ts'
import { DESTINATION, IDEMPOTENCY_KEY, INSTANT, POLICY_ID, refuse, refuseUnless, TASK_ID } from './check/fields.ts'
import { problemsOfTask } from './check/task.ts'
import { enqueueMany, type EnqueueResult } from './enqueue-many.ts'
import { listing, type Listing } from './listing.ts'
import type { Page } from './wire/page.ts'
import type { Attempt, Explanation, RetryTask, RetryTaskInput, TaskFilter, TaskStatus } from './wire/task.ts'

/** `/retry-tasks`. A refusal is thrown as `ServiceError`; with 409 its `taskStatus` says what the task is now. */
export interface Tasks {
  /**
   * Hands a request over; resolves once it is durable. Without an `idempotencyKey` one is made for this call, so that
   * the call itself can be repeated; to be safe across calls and crashes, bring one of your own.
   */
  enqueue(task: RetryTaskInput, call?: Call): Promise<EnqueuedTask>
  /** Many of them, in as few calls as they fit into; each has a result of its own, in the order of the list. */
  enqueueMany(tasks: readonly RetryTaskInput[], call?: Call): Promise<EnqueueResult[]>
  get(taskId: string, call?: Call): Promise<RetryTask>
  /** Every attempt, of all generations, in order. */
  attempts(taskId: string, call?: Call): Listing<Attempt>
  /** The newest first. */
  list(filter?: TaskFilter, call?: Call): Listing<RetryTask>
  /** `CANCELLED`, or still `IN_FLIGHT` with `cancelRequested` while its last attempt ends. */
  cancel(taskId: string, call?: ChangeCall): Promise<RetryTask>
  /** The next attempt now, before all others of its destination. Never repeated by itself: twice is two attempts. */
  attemptNow(taskId: string, call?: ChangeCall): Promise<RetryTask>
  /** Begins again with a dead letter. Never repeated by itself: the second would meet the work of the first. */
  replay(taskId: string, call?: ChangeCall): Promise<RetryTask>
  /** Why it waits, until when, and for which gate. */
  explain(taskId: string, call?: Call): Promise<Explanation>
}

export interface EnqueuedTask extends RetryTask {
  /** False when the same request with the same key had come before, perhaps as a lost attempt of this very call. */
  readonly isNew: boolean
}

export function tasksOf(caller: Caller): Tasks {
  return {
    async enqueue(task, { signal } = {}) {
      refuse('the task cannot be enqueued', problemsOfTask(task))
      const key = task.idempotencyKey === undefined ? { idempotencyKey: true as const } : { idempotent: true }
      const asked = { method: 'POST', mark: 'taskId', path: '/retry-tasks', body: task, signal, ...key } as const
      const { status, body } = await caller.answerTo<RetryTask>(asked)
      return { ...body, isNew: status === 201 }
    },
    enqueueMany: (tasks, call = {}) => enqueueMany(caller, tasks, call),
    get: async (taskId, { signal } = {}) => caller.ask({ method: 'GET', mark: 'taskId', path: pathOf(taskId), signal }),
    attempts(taskId, { signal } = {}) {
      const path = `${pathOf(taskId)}/attempts`
      return listing(query => caller.ask<Page<Attempt>>({ method: 'GET', mark: 'items', path, query, signal }))
    },
    list(filter = {}, { signal } = {}) {
      refuse('the tasks cannot be listed', check.checkFields(filter, FILTER_FIELDS))
      const path = '/retry-tasks'
      return listing(page =>
        caller.ask<Page<RetryTask>>({ method: 'GET', mark: 'items', path, query: { ...filter, ...page }, signal }),
      )
    },
    cancel: async (taskId, { signal, ifVersion } = {}) =>
      caller.ask({ method: 'DELETE', mark: 'taskId', path: pathOf(taskId), ...onVersion(ifVersion), signal }),
    attemptNow: async (taskId, call = {}) =>
      caller.ask({ method: 'POST', mark: 'taskId', path: `${pathOf(taskId)}/attempt-now`, idempotent: false, ...call }),
    replay: async (taskId, call = {}) =>
      caller.ask({ method: 'POST', mark: 'taskId', path: `${pathOf(taskId)}/replay`, idempotent: false, ...call }),
    explain: async (taskId, { signal } = {}) =>
      caller.ask({ method: 'GET', mark: 'taskId', path: `${pathOf(taskId)}/explain`, signal }),
  }
}

function pathOf(taskId: string): string {
  refuseUnless(TASK_ID, 'taskId', taskId, 'there is no such task')
  return `/retry-tasks/${taskId}`
}

const STATUSES: { readonly [status in TaskStatus]: true } = {
  PENDING: true,
  IN_FLIGHT: true,
  SUCCEEDED: true,
  EXHAUSTED: true,
  CANCELLED: true,
}

const FILTER_FIELDS: { readonly [field in keyof TaskFilter]-?: check.FieldCheck } = {
  status: check.oneOf(...Object.keys(STATUSES)),
  destination: DESTINATION,
  policyId: POLICY_ID,
  idempotencyKey: IDEMPOTENCY_KEY,
  attemptFrom: check.wholeNumber(0, 10_000),
  errorCode: check.text(100),
  createdFrom: INSTANT,
  createdTo: INSTANT,
  endedFrom: INSTANT,
  endedTo: INSTANT,
}
