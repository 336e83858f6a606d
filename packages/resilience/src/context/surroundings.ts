import { AsyncLocalStorage } from 'node:async_hooks'
import { earlier, type Deadline } from '../deadline/deadline.ts'

/** What work can know of those it is done for, however deep in the program it is. */
export interface Surroundings {
  readonly deadline: Deadline | undefined
  /** Who will make the call again if it fails: another operation, or the caller of this process. */
  readonly repeatedBy: string | undefined
  /** All who will are operations of this process: what is returned to them they do not take for a failure. */
  readonly isRepeatedHere?: boolean
}

const storage = new AsyncLocalStorage<Surroundings>()

const NOWHERE: Surroundings = { deadline: undefined, repeatedBy: undefined }

export function surroundings(): Surroundings {
  return storage.getStore() ?? NOWHERE
}

/** Runs `work`, and all that it begins, in these surroundings. */
export function runAmid<R>(around: Surroundings, work: () => R): R {
  return storage.run(around, work)
}

/** The deadline of whatever this is a part of: an attempt, a request, or `runWithDeadline`. */
export function currentDeadline(): Deadline | undefined {
  return surroundings().deadline
}

/**
 * Every operation that `work` begins has this deadline, or the one that holds already if that is earlier. With
 * `undefined` it begins anew, without a deadline and as nobody's part: for work that outlives its request.
 */
export function runWithDeadline<R>(deadline: Deadline | undefined, work: () => R): R {
  if (deadline === undefined) return runAmid(NOWHERE, work)
  const around = surroundings()
  return runAmid({ ...around, deadline: earlier(around.deadline, deadline) }, work)
}
