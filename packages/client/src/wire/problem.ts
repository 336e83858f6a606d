import type { Problem } from '@secondwind/resilience'
import type { TaskStatus } from './task.ts'

/** Why a request was not done as it was asked for: RFC 9457, with a stable `code` and every problem at once. */
export interface ProblemDetails {
  readonly type: string
  readonly title: string
  /** Of the answer. */
  readonly status: number
  /** What happened here, and what to do about it. */
  readonly detail: string
  readonly code: ProblemCode
  readonly problems?: readonly Problem[]
  /** The task that stands in the way. */
  readonly taskId?: string
  /** What it is now. */
  readonly taskStatus?: TaskStatus
  readonly requestId: string
}

export type ProblemCode =
  | 'invalid-request'
  | 'bad-json'
  | 'bad-http'
  | 'invalid-cursor'
  | 'no-index'
  | 'foreign-host'
  | 'foreign-origin'
  | 'route-not-found'
  | 'task-not-found'
  | 'body-not-found'
  | 'body-damaged'
  | 'policy-not-found'
  | 'replay-not-found'
  | 'control-not-found'
  | 'destination-not-found'
  | 'name-taken'
  | 'write-conflict'
  | 'too-many'
  | 'scope-missing'
  | 'key-missing'
  | 'key-not-found'
  | 'key-unknown'
  | 'last-admin'
  | 'secret-exists'
  | 'secret-not-found'
  | 'tenant-exists'
  | 'tenant-forbidden'
  | 'tenant-not-found'
  | 'intake-off'
  | 'draining'
  | 'method-not-allowed'
  | 'not-acceptable'
  | 'request-timeout'
  | 'wrong-status'
  | 'wrong-replay-status'
  | 'version-changed'
  | 'body-too-large'
  | 'batch-too-large'
  | 'url-too-long'
  | 'unsupported-media-type'
  | 'idempotency-conflict'
  | 'target-forbidden'
  | 'backlog-full'
  | 'bodies-full'
  | 'intake-limited'
  | 'too-many-replays'
  | 'headers-too-large'
  | 'internal-error'
  | 'too-many-requests'
  | 'too-many-listeners'
  | 'not-ready'
  | 'store-full'
  | 'store-read-only'
  | 'store-corrupt'
  | 'store-closed'
  | 'store-in-use'
  | 'store-unreachable'
