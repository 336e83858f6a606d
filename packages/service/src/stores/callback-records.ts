/** Ends that somebody wants to hear of: kept with the end itself, in the same write, until their own task is there. */
import type { Callback } from '../task/callback.ts'
import type { Page, PageAsk } from './records.ts'

export interface CallbackStore {
  /**
   * Those that are due, lane by lane: of each the oldest ends, in their order. What a lane has beyond its share is found by
   * whoever begins anew, so that no lane stands before another.
   */
  callbacks(ask: CallbacksPage): Promise<{ readonly now: number } & Page<Callback>>
  /** They have a task of their own now. Twice is once. */
  strikeCallbacks(ends: readonly EndName[]): Promise<{ readonly now: number }>
}

export interface CallbacksPage extends PageAsk {
  /** Of each lane at most. */
  readonly perLane: number
}

/** A task ends once in each generation. */
export type EndName = Pick<Callback, 'taskId' | 'generation'>
