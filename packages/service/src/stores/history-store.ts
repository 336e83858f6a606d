/**
 * Lists and counts of tasks, and forgetting them. Lists may lag a second. Each call looks at a bounded number of rows: a
 * page may be short or empty and still have a cursor. A store refuses a question that it has no index for with `NoIndexError`.
 */
import type { GiveUpReason } from '@secondwind/resilience'
import type { GateReason } from '../task/lane-view.ts'
import type { ReplayCounts } from '../task/replay/counts.ts'
import type { AttemptRow, Task, TaskRequest, TaskStatus } from '../task/task.ts'
import type { Answer, Page, PageAsk } from './store.ts'

export interface HistoryStore {
  list(ask: TasksPage): Promise<Page<ListedTask>>
  /** In the order in which they were made. */
  attempts(ask: AttemptsPage): Promise<Page<AttemptRow>>
  /** Dead letters by cause, the most numerous first. */
  causes(ask: CausesPage): Promise<Page<Cause>>
  /** In order of name. */
  lanes(ask: LanesPage): Promise<Page<LaneCounters>>
  /** In the order asked; a replay that moved nothing yet has zeros. Always exact. */
  replayCounts(replayIds: readonly string[]): Promise<readonly ReplayCounts[]>
  /** Forgets tasks that ended long ago, old audit lines and lanes without a task; no more than `limit` of all. */
  sweep(ask: Sweep): Promise<Answer & { readonly swept: number }>
}

export interface TasksPage extends PageAsk {
  readonly filter: TaskFilter
  readonly order: ListOrder
}

export type ListOrder =
  /** By arrival; dead letters by the instant of their death. */
  | 'newest-first'
  /** Only for status `EXHAUSTED`. */
  | 'oldest-death-first'
  /** Only for status `PENDING`: by the next attempt. */
  | 'due-first'

export interface TaskFilter {
  /** Left out: of all. */
  readonly tenant?: string
  readonly status?: TaskStatus
  readonly destination?: string
  readonly policyId?: string
  /** At most one task of a tenant has it; a store may ask for `tenant` beside it. */
  readonly idempotencyKey?: string
  /** At least so many attempts made. */
  readonly attemptFrom?: number
  /** Of the newest attempt. */
  readonly errorCode?: string
  /** Part of the range. */
  readonly createdFrom?: number
  /** No part of it. */
  readonly createdTo?: number
  /** Of dead letters. */
  readonly reason?: GiveUpReason
  readonly causeId?: string
  readonly endedFrom?: number
  readonly endedTo?: number
}

/** A task without the bytes of its body. */
export interface ListedTask extends Omit<Task, 'request'> {
  readonly request: Omit<TaskRequest, 'body'>
}

export interface AttemptsPage extends PageAsk {
  readonly taskId: string
}

export interface CausesPage extends PageAsk {
  /** Left out: of all. */
  readonly tenant?: string
  readonly destination?: string
  readonly causeId?: string
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

export interface LanesPage extends PageAsk {
  readonly tenant?: string
  readonly destination?: string
  /** These alone: no more than a page has. */
  readonly names?: readonly string[]
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

export interface Sweep {
  /** `SUCCEEDED` and `CANCELLED` tasks that ended before. */
  readonly finishedBefore: number
  /** `EXHAUSTED` ones. */
  readonly deadBefore: number
  /** Lines of the audit. */
  readonly auditBefore: number
  readonly limit: number
}
