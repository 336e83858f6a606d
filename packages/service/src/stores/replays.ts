/** How dead letters are brought back, one or many. */
import type { ReplayStatus } from '@secondwind/client'
import type { BacklogLimits } from '../task/backlog.ts'
import type { ReplayCounts } from '../task/replay/counts.ts'
import type { DeadLetter } from '../task/replay/dead-letter.ts'
import type { ReplayDocument } from '../task/replay/replay.ts'
import type { Progress } from '../task/task.ts'
import { documentOf, type OperatorRecord } from './operator-records.ts'
import type { Page, PageAsk, TaskFilter } from './records.ts'
import type { Answer, Changed, Operating } from './task-store.ts'

export interface ReplayStore {
  /** As `replay`, for many in one write; each is answered for itself. */
  replayMany(
    asks: readonly Omit<Replay, keyof Operating | 'limits'>[],
    limits?: BacklogLimits,
  ): Promise<Answer & { readonly results: readonly Changed['kind'][] }>
  /** The oldest first, in brief, for whoever goes through all of them. Lags and is bounded as lists are. */
  deadLetters(ask: DeadLettersPage): Promise<Page<DeadLetter>>
  /** A tenant's replays, the newest first, each with its counts. Lags and is bounded as lists are. */
  replays(ask: ReplaysPage): Promise<Page<ListedReplay>>
  /** Kept with every write of a task that the replay brought back. Always exact. */
  replayCounts(replayId: string): Promise<ReplayCounts>
  /** Drops the counts; tasks that the replay brought back are counted no more. */
  forgetReplay(replayId: string): Promise<Answer>
}

/** `audit` and `ifVersion` are of one that is asked for alone. */
export interface Replay extends Operating {
  readonly taskId: string
  /** The generation that was read: in a later one nothing is done. */
  readonly generation: number
  readonly progress: Progress
  /** Its turn; left out or past: now. */
  readonly dueAt?: number
  /** As for a new task: `full` where there is no room. Left out: it finds room. */
  readonly limits?: BacklogLimits
}

export interface ReplaysPage extends PageAsk {
  readonly tenant: string
  readonly status?: ReplayStatus
}

export interface ListedReplay {
  /** Without the ids of tasks that its filter may name. */
  readonly record: OperatorRecord
  readonly counts: ReplayCounts
}

/** As a list has it: a page of replays that name two hundred tasks each would be megabytes, and nobody reads them there. */
export function listedRecord(record: OperatorRecord): OperatorRecord {
  const { filter, ...replay } = documentOf<ReplayDocument>(record)
  const { taskIds: _, ...others } = filter
  return { ...record, document: { ...replay, filter: others } }
}

export function hasStatus(record: OperatorRecord, status: ReplayStatus | undefined): boolean {
  return status === undefined || documentOf<ReplayDocument>(record).status === status
}

export interface DeadLettersPage extends PageAsk {
  readonly filter: Omit<TaskFilter, 'status' | 'attemptFrom'>
}
