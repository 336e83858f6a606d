import type { TaskStore } from './task-store.ts'

/**
 * Throws when whoever asked may do it no longer. A call that carries one is asked for it when its turn has come, with
 * nothing left to wait for: what it throws is the answer, and nothing is written. Calls are asked in the order in which they
 * are done, so that one may end the leave of all behind it.
 */
export type Leave = () => void

/** The same store, for somebody whose leave may end while a call waits. One that a call has of its own is asked after it. */
export function withLeave(store: TaskStore, leave: Leave): TaskStore {
  const both = (own?: Leave) => (): void => {
    leave()
    own?.()
  }
  return {
    ...store,
    enqueue: (tasks, limits, own) => store.enqueue(tasks, limits, both(own)),
    cancel: (taskId, ask, own) => store.cancel(taskId, ask, both(own)),
    attemptNow: (taskId, ask, own) => store.attemptNow(taskId, ask, both(own)),
    replay: (ask, own) => store.replay(ask, both(own)),
    putPolicy: (ask, own) => store.putPolicy(ask, both(own)),
    putBody: (ask, own) => store.putBody(ask, both(own)),
    writeRecord: (ask, own) => store.writeRecord(ask, both(own)),
  }
}

/** What whoever asks something of the service may have written; all of it is asked with leave. */
type WrittenForCallers = 'enqueue' | 'cancel' | 'attemptNow' | 'replay' | 'putPolicy' | 'putBody' | 'writeRecord'

/** A store that nothing is written to in a caller's name. */
export type ReadableStore = Omit<TaskStore, WrittenForCallers>
