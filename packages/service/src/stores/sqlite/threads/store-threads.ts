import { systemClock, type Clock } from '@secondwind/resilience'
import { createStoreClock, uptimeMs } from '../../store-clock.ts'
import { StoreUnavailableError, type Hint, type StoreHealth } from '../../task-store.ts'
import { createCommitQueue, type Committing } from '../commit-queue.ts'
import type { FileOptions } from '../file/file.ts'
import type { ReaderAnswer, ReaderAsk, ReaderVerb } from '../reader/reading.ts'
import type { Batch, Committed } from '../writer/commit.ts'
import type { AskOf, Verb } from '../writer/verbs.ts'
import type { WriterOpened } from '../writer/writer-thread.ts'
import { startThread, type Thread } from './thread.ts'

export interface SqliteStoreOptions extends FileOptions {
  /** The system's unless told. */
  readonly clock?: Clock
  /** Time since the machine was started, suspends included. */
  readonly bootMs?: () => number
}

/** One thread writes and commits in groups, another reads what may take long; this side hands them calls. */
export interface StoreThreads {
  now(): number
  write<V extends Verb>(verb: V, ask: AskOf<V>): Promise<Committing<V>>
  read<V extends ReaderVerb>(...ask: ReaderAsk<V>): Promise<ReaderAnswer<V>>
  health(): Promise<StoreHealth>
  onHint(listener: (hint: Hint) => void): () => void
  /** Finishes what was asked before, and refuses what comes after. */
  close(): Promise<void>
}

export async function openStoreThreads(options: SqliteStoreOptions): Promise<StoreThreads> {
  const { clock = systemClock, bootMs = clock === systemClock ? uptimeMs : undefined, ...data } = options
  const { thread: writer, opened } = await startThread<Batch, Committed, WriterOpened>(scriptOf('writer'), data)
  const storeClock = createStoreClock({ clock, ...opened, ...(bootMs !== undefined && { bootMs }) })
  const listeners = new Set<(hint: Hint) => void>()
  let reader: Promise<Thread<ReaderAsk, unknown>> | undefined
  let problem: string | undefined
  let closing: Promise<void> | undefined

  const queue = createCommitQueue({
    thread: writer,
    now: () => storeClock.now(),
    onHints: hints => {
      for (const hint of hints) for (const listener of listeners) listener(hint)
    },
    onWrite: error => {
      problem = error?.message
    },
  })
  /** By the first who reads: a store that only works needs none. */
  const startReader = async (): Promise<Thread<ReaderAsk, unknown>> => {
    try {
      return (await startThread<ReaderAsk, unknown, null>(scriptOf('reader'), data)).thread
    } catch (error) {
      reader = undefined
      throw error
    }
  }
  const refuseIfClosed = (): void => {
    if (closing === undefined) return
    throw new StoreUnavailableError('store-closed', `the store in ${data.directory} was closed`)
  }
  const closeAll = async (): Promise<void> => {
    await queue.drained()
    // The writer last: as the last connection it moves the log into the file.
    await (await reader)?.close()
    await writer.close()
  }

  try {
    await queue.ask('endLeases', null)
  } catch (error) {
    await closeAll()
    throw error
  }
  return {
    now: () => storeClock.now(),
    write(verb, ask) {
      refuseIfClosed()
      return queue.ask(verb, ask)
    },
    async read<V extends ReaderVerb>(...ask: ReaderAsk<V>) {
      refuseIfClosed()
      reader ??= startReader()
      return (await (await reader).ask(ask)) as ReaderAnswer<V>
    },
    async health() {
      refuseIfClosed()
      // What failed is tried again, so that the problem ends when it does and not with the next task.
      if (problem !== undefined) await queue.ask('probe', null).catch(() => undefined)
      return { now: storeClock.now(), clockSkewMs: storeClock.skewMs(), ...(problem !== undefined && { problem }) }
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
function scriptOf(thread: 'writer' | 'reader'): URL {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return new URL(`../${thread}/${thread}-thread.${ending}`, import.meta.url)
}
