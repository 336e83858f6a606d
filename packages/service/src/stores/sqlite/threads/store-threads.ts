import { systemClock, type Clock } from '@secondwind/resilience'
import { createStoreClock, uptimeMs } from '../../store-clock.ts'
import { StoreUnavailableError, type Hint, type StoreHealth } from '../../task-store.ts'
import { createCommitQueue, type Committing } from '../commit-queue.ts'
import { openDisk } from '../file/disk.ts'
import { sayingWhy, type FileOptions } from '../file/file.ts'
import type { MoverAsk } from '../mover/mover-thread.ts'
import type { ReaderAnswer, ReaderAsk, ReaderVerb } from '../reader/reading.ts'
import type { Batch, Committed } from '../writer/commit.ts'
import type { AskOf, Verb } from '../writer/verbs.ts'
import type { WriterOpened } from '../writer/writer-thread.ts'
import type { WriterOptions } from '../writer/writer.ts'
import { createCondition } from './condition.ts'
import { createLogMoving } from './log-moving.ts'
import { lateThread } from './late-thread.ts'
import { createLine } from './line.ts'
import { startThread } from './thread.ts'

export interface SqliteStoreOptions extends FileOptions, WriterOptions {
  /** The system's unless told. */
  readonly clock?: Clock
  /** Time since the machine was started, suspends included. */
  readonly bootMs?: () => number
}

/**
 * One thread writes and commits in groups, another reads what may take long, a third moves the log into the file; this
 * side hands them calls.
 */
export interface StoreThreads {
  now(): number
  write<V extends Verb>(verb: V, ask: AskOf<V>): Promise<Committing<V>>
  read<V extends ReaderVerb>(...ask: ReaderAsk<V>): Promise<ReaderAnswer<V>>
  health(): Promise<StoreHealth>
  onHint(listener: (hint: Hint) => void): () => void
  /** Finishes what was asked before, and refuses what comes after. */
  close(): Promise<void>
}

/** Orders, keys and memories: on old ones nothing is sent. However many lists are asked for, these wait for two of them. */
const READ_FIRST: ReadonlySet<ReaderVerb> = new Set<ReaderVerb>(['records', 'memories'])
const LISTS_AT_ONCE = 2

export async function openStoreThreads(options: SqliteStoreOptions): Promise<StoreThreads> {
  const { clock = systemClock, bootMs = clock === systemClock ? uptimeMs : undefined, ...data } = options
  const { thread: writer, opened } = await startThread<Batch, Committed, WriterOpened>(scriptOf('writer'), data)
  const { lastWrittenAt, files } = opened
  const storeClock = createStoreClock({ clock, lastWrittenAt, ...(bootMs !== undefined && { bootMs }) })
  const disk = sayingWhy(files.data.path, () => openDisk(files.data.path))
  const condition = createCondition(files, () => storeClock.now())
  const refuse = (): void => condition.refuseToOpen()
  const reader = lateThread<ReaderAsk, unknown>({ script: scriptOf('reader'), data, refuse })
  const mover = lateThread<MoverAsk, boolean>({ script: scriptOf('mover'), data, refuse })
  const lists = createLine(LISTS_AT_ONCE)
  const listeners = new Set<(hint: Hint) => void>()
  let closing: Promise<void> | undefined

  const queue = createCommitQueue({
    thread: writer,
    disk,
    now: () => storeClock.now(),
    onHints: hints => {
      for (const hint of hints) for (const listener of listeners) listener(hint)
    },
    onWrite: error => {
      condition.wrote(error)
      if (error === undefined) logMoving.wrote()
    },
    onUnkept: error => condition.couldNotKeep(error),
  })
  const logMoving = createLogMoving({
    move: what => mover.ask(what),
    keep: () =>
      disk.keepMoved().catch((error: unknown) => {
        throw condition.couldNotKeep(error)
      }),
    moveRest: () => queue.ask('moveRest', null),
  })
  const refuseIfClosed = (): void => {
    if (closing === undefined) return
    throw new StoreUnavailableError('store-closed', `the store in ${data.directory} was closed`)
  }
  const closeAll = async (): Promise<void> => {
    await queue.drained()
    await logMoving.settled()
    // The writer last: as the last connection it moves the log into the file.
    await reader.close()
    await mover.close()
    await writer.close()
    disk.close()
  }

  try {
    // What cannot be counted now is no reason not to start, and is no better known by waiting.
    const recounted = queue.ask('recount', null).catch(() => undefined)
    await queue.ask('endLeases', null)
    await recounted
  } catch (error) {
    await closeAll()
    throw error
  }
  return {
    now: () => storeClock.now(),
    write(verb, ask) {
      refuseIfClosed()
      condition.refuse(verb, ask)
      return queue.ask(verb, ask)
    },
    async read<V extends ReaderVerb>(...ask: ReaderAsk<V>) {
      refuseIfClosed()
      try {
        const answer = READ_FIRST.has(ask[0]) ? reader.ask(ask) : lists(() => reader.ask(ask))
        return (await answer) as ReaderAnswer<V>
      } catch (error) {
        condition.couldNotRead(error)
        throw error
      }
    },
    async health() {
      refuseIfClosed()
      // What failed is tried again, so that the problem ends when it does and not with the next task.
      condition.look()
      if (condition.mayPass) await queue.ask('probe', null).catch(() => undefined)
      const { problem, lasting } = condition
      return {
        now: storeClock.now(),
        clockSkewMs: storeClock.skewMs(),
        ...(problem !== undefined && { problem }),
        ...(lasting !== undefined && { lasting }),
      }
    },
    onHint(listener) {
      // Wrapped, so that whoever listens twice is heard twice and can leave once.
      const own = (hint: Hint): void => listener(hint)
      listeners.add(own)
      return () => void listeners.delete(own)
    },
    close() {
      closing ??= closeAll()
      return closing
    },
  }
}

/** Built files have another ending than sources. */
function scriptOf(thread: 'writer' | 'reader' | 'mover'): URL {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return new URL(`../${thread}/${thread}-thread.${ending}`, import.meta.url)
}
