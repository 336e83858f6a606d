import { dataGoneFault, errorOf, lockGoneFault, unkeptFault } from '../file/faults.ts'
import { isInPlace, type OpenedFiles } from '../file/in-place.ts'
import { StoreUnavailableError, type WriteRecord } from '../../task-store.ts'
import { FLEET, READS, type AskOf, type Verb } from '../writer/verbs.ts'

/**
 * How the store is. Most problems pass, and the next write that succeeds shows it. These last until the process ends, for a
 * success proves nothing:
 *
 *  1. A damaged file still takes writes on its sound pages. Nothing new goes in; the rest goes on as far as it can.
 *  2. A file that lost its name takes every write, and is gone with the process. Nothing new goes in.
 *  3. A lock that lost its name keeps nobody out. Nothing at all is written.
 *  4. A disk that could not keep what was committed, or moved out of the log, may have dropped it, and says so once. Nothing at
 *     all is written.
 *
 * New is what promises to be there later: tasks, replays, policies, bodies, keys, secrets, tenants. What is under way ends,
 * and whoever has to stop or slow it, or to shut somebody out, can do so as long as this process lives: see `isMeantToLast`.
 */
export interface Condition {
  readonly problem: string | undefined
  /** Which it is, where it is one that lasts. */
  readonly lasting: StoreUnavailableError['code'] | undefined
  /** There is a problem, and a write that succeeds would end it. */
  readonly mayPass: boolean
  /** Told after each write: why it failed, if it did. */
  wrote(error: Error | undefined): void
  /** Told why the disk could not keep what was written; says it in our words. */
  couldNotKeep(error: unknown): Error
  /** Told why a read failed. */
  couldNotRead(error: unknown): void
  /** Looks now whether the files are in their place. */
  look(): void
  /** Throws what keeps the call from being made. */
  refuse<V extends Verb>(verb: V, ask: AskOf<V>): void
  /** Throws if another file may stand where ours was opened. */
  refuseToOpen(): void
}

const LOOK_EVERY_MS = 1_000

const MEANT_TO_LAST: ReadonlySet<Verb> = new Set<Verb>([
  'enqueue',
  'replay',
  'replayMany',
  'putPolicy',
  'putBody',
  'writeRecord',
])

/** Whether somebody will count on it later, and not only while this process lives. */
function isMeantToLast<V extends Verb>(verb: V, ask: AskOf<V>): boolean {
  return MEANT_TO_LAST.has(verb) && !(verb === 'writeRecord' && isForNow(ask as WriteRecord))
}

/** What steers the traffic of now, and what takes something away from somebody. */
function isForNow({ kind, document }: WriteRecord): boolean {
  return kind === 'control' || kind === 'destination' || document === null
}

export function createCondition({ data, lock }: OpenedFiles, now: () => number): Condition {
  let passing: string | undefined
  let nothingNew: StoreUnavailableError | undefined
  let noWrites: StoreUnavailableError | undefined
  let dataGone: StoreUnavailableError | undefined
  let lookedAt = now()

  const look = (): void => {
    lookedAt = now()
    if (!isInPlace(data)) dataGone ??= errorOf(dataGoneFault(data.path))
    nothingNew ??= dataGone
    // Data that went with its lock can be found by nobody else.
    if (dataGone === undefined && !isInPlace(lock)) noWrites ??= errorOf(lockGoneFault(lock.path))
  }
  const couldNotRead = (error: unknown): void => {
    if (error instanceof StoreUnavailableError && error.code === 'store-corrupt') nothingNew ??= error
  }
  const lasting = (): StoreUnavailableError | undefined => noWrites ?? nothingNew

  return {
    get problem() {
      return lasting()?.message ?? passing
    },
    get lasting() {
      return lasting()?.code
    },
    get mayPass() {
      return passing !== undefined && lasting() === undefined
    },
    wrote(error) {
      passing = error?.message
      couldNotRead(error)
    },
    couldNotKeep(error) {
      noWrites ??= errorOf(unkeptFault(data.path, error))
      return noWrites
    },
    couldNotRead,
    look,
    refuse(verb, ask) {
      if (now() - lookedAt >= LOOK_EVERY_MS) look()
      if (noWrites !== undefined && !READS.has(verb) && !FLEET.has(verb)) throw noWrites
      if (nothingNew !== undefined && isMeantToLast(verb, ask)) throw nothingNew
    },
    refuseToOpen() {
      look()
      if (dataGone !== undefined) throw dataGone
    },
  }
}
