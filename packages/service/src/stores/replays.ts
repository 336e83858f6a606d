/** How dead letters are brought back, one or many. */
import type { BacklogLimits } from '../task/backlog.ts'
import type { ReplayCounts } from '../task/replay/counts.ts'
import type { DeadLetter } from '../task/replay/dead-letter.ts'
import type { Progress } from '../task/task.ts'
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

export interface DeadLettersPage extends PageAsk {
  readonly filter: Omit<TaskFilter, 'status' | 'attemptFrom'>
}
