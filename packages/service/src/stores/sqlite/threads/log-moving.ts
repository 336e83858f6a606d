/**
 * Sees to it that the log is moved into the file while the writer goes on.
 *
 * SQLite waits until the file is on the disk only with the last page of the log, then for all that was moved before, and
 * whoever moves that page waits. That must not be the writer, for it would stand still for a tenth of a second. So what
 * was moved is kept before more is moved, until what came meanwhile is little: that is the writer's.
 */
import type { MoverAsk } from '../mover/mover-thread.ts'

export interface LogMoving {
  /** Told after each commit that wrote something. */
  wrote(): void
  /** Resolves when nothing is under way. */
  settled(): Promise<void>
}

export interface LogMovingOptions {
  /** Moves it beside the writer, if there is so much; answers whether there was. */
  readonly move: (what: MoverAsk) => Promise<boolean>
  /** Resolves when all that was moved is on the disk; where it is not, nobody writes any more. */
  readonly keep: () => Promise<unknown>
  /** Has the writer move the rest. */
  readonly moveRest: () => Promise<unknown>
}

/** Some megabytes at most, unless bodies are large. */
const COMMITS_BETWEEN_LOOKS = 100

/** Each finds about a tenth of what the one before found. Where the disk is slower than what comes, no number would do. */
const MOST_ROUNDS = 4

export function createLogMoving({ move, keep, moveRest }: LogMovingOptions): LogMoving {
  let commits = 0
  let moving: Promise<void> | undefined

  const moveAll = async (): Promise<void> => {
    try {
      if (!(await move('long'))) return
      await keep()
      for (let round = 1; round < MOST_ROUNDS && (await move('more')); round++) await keep()
      await moveRest()
    } catch {
      // The log keeps it all. A disk that is full is met by the commits themselves, and a log that has grown too long is
      // moved by the writer. But a disk that did not keep what was moved says so once to each who asks, and SQLite, when it
      // is told, only fails: we ask for ourselves, before the log is written over.
      await keep().catch(() => undefined)
    }
  }
  return {
    wrote() {
      commits++
      if (moving !== undefined || commits < COMMITS_BETWEEN_LOOKS) return
      commits = 0
      moving = moveAll().then(() => void (moving = undefined))
    },
    settled: async () => moving,
  }
}
