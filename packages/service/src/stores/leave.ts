import type { TaskStore } from './task-store.ts'

/**
 * Throws when whoever asked may do it no longer. A call that carries one is asked for it when its turn has come, with
 * nothing left to wait for: what it throws is the answer, and nothing is written.
 */
export type Leave = () => void

/** The same store, for somebody whose leave may end while a call waits. */
export function withLeave(store: TaskStore, leave: Leave): TaskStore {
  return {
    ...store,
    enqueue: (tasks, limits) => store.enqueue(tasks, limits, leave),
    cancel: (taskId, ask) => store.cancel(taskId, ask, leave),
    attemptNow: (taskId, ask) => store.attemptNow(taskId, ask, leave),
    replay: ask => store.replay(ask, leave),
    putPolicy: ask => store.putPolicy(ask, leave),
    putBody: ask => store.putBody(ask, leave),
    writeRecord: ask => store.writeRecord(ask, leave),
  }
}

/** What whoever asks something of the service may have written; all of it is asked with leave. */
type WrittenForCallers = 'enqueue' | 'cancel' | 'attemptNow' | 'replay' | 'putPolicy' | 'putBody' | 'writeRecord'

/** A store that nothing is written to in a caller's name. */
export type ReadableStore = Omit<TaskStore, WrittenForCallers>
