import type { TaskStore } from './task-store.ts'

/**
 * Throws when whoever asked may do it no longer. A call that carries one is asked for it when its turn has come, with
 * nothing left to wait for: what it throws is the answer, and nothing is written. Calls are asked in the order in which they
 * are done, so that one may end the leave of all behind it.
 */
export type Leave = () => void

/** The same store, for somebody whose leave may end while a call waits. One that a call has of its own is asked after it. */
export function askingLeave(store: TaskStore): (leave: Leave) => TaskStore {
  /** Made for every request, and so nothing but the leave is its own: all else stands behind it. */
  class Asking implements Pick<TaskStore, WrittenForCallers> {
    readonly #leave: Leave

    constructor(leave: Leave) {
      this.#leave = leave
    }

    enqueue(...[tasks, limits, own]: Parameters<TaskStore['enqueue']>): ReturnType<TaskStore['enqueue']> {
      return store.enqueue(tasks, limits, this.#with(own))
    }
    cancel(...[taskId, ask, own]: Parameters<TaskStore['cancel']>): ReturnType<TaskStore['cancel']> {
      return store.cancel(taskId, ask, this.#with(own))
    }
    attemptNow(...[taskId, ask, own]: Parameters<TaskStore['attemptNow']>): ReturnType<TaskStore['attemptNow']> {
      return store.attemptNow(taskId, ask, this.#with(own))
    }
    replay(...[ask, own]: Parameters<TaskStore['replay']>): ReturnType<TaskStore['replay']> {
      return store.replay(ask, this.#with(own))
    }
    putPolicy(...[ask, own]: Parameters<TaskStore['putPolicy']>): ReturnType<TaskStore['putPolicy']> {
      return store.putPolicy(ask, this.#with(own))
    }
    putBody(...[ask, own]: Parameters<TaskStore['putBody']>): ReturnType<TaskStore['putBody']> {
      return store.putBody(ask, this.#with(own))
    }
    writeRecord(...[ask, own]: Parameters<TaskStore['writeRecord']>): ReturnType<TaskStore['writeRecord']> {
      return store.writeRecord(ask, this.#with(own))
    }

    #with(own: Leave | undefined): Leave {
      const leave = this.#leave
      if (own === undefined) return leave
      return () => {
        leave()
        own()
      }
    }
  }
  Object.setPrototypeOf(Asking.prototype, store)
  return leave => new Asking(leave) as unknown as TaskStore
}

/** What whoever asks something of the service may have written; all of it is asked with leave. */
type WrittenForCallers = 'enqueue' | 'cancel' | 'attemptNow' | 'replay' | 'putPolicy' | 'putBody' | 'writeRecord'

/** A store that nothing is written to in a caller's name. */
export type ReadableStore = Omit<TaskStore, WrittenForCallers>
