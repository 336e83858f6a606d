/** Attempts of one kind share a purse and, in the service, queues: a task that was never tried, tried before, or tried often. */
export type StartKind = 'first' | 'retry' | 'late'

export type PerKind<Value> = { readonly [kind in StartKind]: Value }

export const START_KINDS: readonly StartKind[] = ['first', 'retry', 'late']

/** So many attempts, and the task will more likely never succeed: it must not delay those that would. */
const LATE_AFTER = 4

export function kindAfter(attemptsMade: number): StartKind {
  if (attemptsMade === 0) return 'first'
  return attemptsMade < LATE_AFTER ? 'retry' : 'late'
}
