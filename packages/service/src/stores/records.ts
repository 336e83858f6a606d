/** What can be read from a store: pages of tasks, attempts, causes, counters and policies. */
import type { GiveUpReason, RetryPolicy } from '@secondwind/resilience'
import type { GateReason } from '../task/lane-view.ts'
import type { TaskStatus } from '../task/task.ts'
import type { AuditLine } from './operator-records.ts'

export interface Page<Item> {
  readonly items: readonly Item[]
  /** Absent at the end. */
  readonly nextCursor?: string
}

export interface PageAsk {
  readonly cursor?: string
  readonly limit: number
}

export interface AttemptsPage extends PageAsk {
  readonly taskId: string
  /** Whose the task is, as far as the caller knows: it is read in that tenant's turn. */
  readonly tenant?: string
}

export interface TasksPage extends PageAsk {
  readonly filter: TaskFilter
}

export interface TaskFilter {
  /** Left out: of all. */
  readonly tenant?: string
  readonly status?: TaskStatus
  readonly destination?: string
  readonly policyId?: string
  /** At most one task has it. */
  readonly idempotencyKey?: string
  readonly createdBy?: string
  /** At least so many attempts made. */
  readonly attemptFrom?: number
  /** Of the newest attempt. */
  readonly errorCode?: string
  readonly createdFrom?: number
  readonly createdTo?: number
  /** Of dead letters. */
  readonly reason?: GiveUpReason
  readonly causeId?: string
  readonly endedFrom?: number
  readonly endedTo?: number
}

export interface CausesPage extends PageAsk {
  /** Left out: of all. Costs a step for each tenant that has a lane. */
  readonly tenant?: string
  readonly destination?: string
}

/** Dead letters that died of the same thing. */
export interface Cause {
  readonly causeId: string
  readonly tenant: string
  readonly destination: string
  readonly reason: GiveUpReason
  /** The gate that held them until their deadline. */
  readonly heldBy?: GateReason
  readonly responseStatus?: number
  readonly errorCode?: string
  /** Of one of them. */
  readonly errorMessage?: string
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
  /** Some of them, at most three. */
  readonly sampleTaskIds: readonly string[]
}

export interface Counters {
  readonly tasks: { readonly [status in TaskStatus]: number }
}

export interface LanesPage extends PageAsk {
  readonly tenant?: string
  /** These alone: no more than a page has. */
  readonly lanes?: readonly string[]
  /** Of whichever tenant. Costs a step for each tenant that has a lane. */
  readonly destination?: string
}

export interface LaneCounters {
  readonly lane: string
  readonly pending: number
  readonly inFlight: number
  readonly succeeded: number
  readonly exhausted: number
  readonly cancelled: number
  /** Attempts that were made, and those of them that were a task's first. */
  readonly attempts: number
  readonly firstAttempts: number
}

/** Each tenant has policies of its own. */
export interface PolicyName {
  readonly tenant: string
  readonly policyId: string
}

export interface NewPolicy extends PolicyName {
  readonly document: RetryPolicy
  /** The version that must be the newest; 0 when there must be none. Left out: whatever there is. */
  readonly ifVersion?: number
  /** Of the tenant's policies, and of the versions of each: nothing is written that would be one more. */
  readonly most?: { readonly policies: number; readonly versions: number }
  readonly audit?: AuditLine
}

export interface PoliciesPage extends PageAsk {
  readonly tenant: string
}

export interface VersionsPage extends PageAsk, PolicyName {}

export type PutPolicy =
  | { readonly kind: 'created' | 'same' | 'new-version'; readonly record: PolicyRecord }
  /** Another version is the newest; `record` is that one, absent when there is none. */
  | { readonly kind: 'conflict'; readonly record?: PolicyRecord }
  /** There are as many as there may be; with a record, of its versions. */
  | { readonly kind: 'full'; readonly record?: PolicyRecord }

export interface PolicyRecord extends PolicyName {
  readonly version: number
  readonly document: RetryPolicy
  readonly createdAt: number
}
