/** Ends that somebody wants to hear of: kept with the end itself, in the same write, until their own task is there. */
import type { Callback } from '../task/callback.ts'

export interface CallbackStore {
  /** Those that are due, the oldest end first. */
  callbacks(ask: { readonly limit: number }): Promise<{ readonly now: number; readonly callbacks: readonly Callback[] }>
  /** They have a task of their own now. Twice is once. */
  strikeCallbacks(ends: readonly EndName[]): Promise<{ readonly now: number }>
}

/** A task ends once in each generation. */
export type EndName = Pick<Callback, 'taskId' | 'generation'>
