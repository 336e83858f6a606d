/** The embedded store: the five ports on one SQLite file, or in memory. Writes go to the writer in groups, reads are done here. */
import { strict as assert } from 'node:assert'
import { systemClock, type Clock } from '@secondwind/resilience'
import { cursorOf } from '../cursor.ts'
import { createStoreClock, uptimeMs, type StoreClock } from '../store-clock.ts'
import { MOST_RECALLED, StoreUnavailableError } from '../store.ts'
import type { ClaimAnswer, Hint, Settled, Store, StoreHealth } from '../store.ts'
import type { ClaimReply } from './claim.ts'
import { CommitQueue, type CommittedAnswer } from './commit-queue.ts'
import { Condition } from './condition.ts'
import type { Connection } from './connection.ts'
import { endsToTell } from './ends.ts'
import { errorOf, faultOf } from './faults.ts'
import { dataPath, openBeside, openInMemory, type FileOptions } from './file.ts'
import { listReader } from './list.ts'
import { overviewReader } from './overview.ts'
import { taskReader } from './read.ts'
import { recordReader } from './records.ts'
import { claimedTasksOf, newRow, settlementRow } from './rows.ts'
import { startCheckpointThread, startWriterThread, type CheckpointThread } from './thread.ts'
import type { SettledWord } from './settle.ts'
import type { AnswerOf, AskOf, WriterVerb } from './verbs.ts'
import { createTurns } from './walk.ts'
import { createWorker, type Batch, type Committed } from './worker.ts'
import { createWriter } from './writer.ts'

export interface SqliteStoreOptions extends FileOptions, ClockOptions {}

interface ClockOptions {
  /** The system's unless told. */
  readonly clock?: Pick<Clock, 'now' | 'monotonic'>
  /** Time since the machine was started, suspends included. */
  readonly bootMs?: () => number
}

/** Everything in one directory, nothing else to install. */
export async function openSqliteStore({ directory, maxFileBytes, ...options }: SqliteStoreOptions): Promise<Store> {
  const thread = await startWriterThread({ directory, ...(maxFileBytes !== undefined && { maxFileBytes }) })
  let closeOthers = (): Promise<void> => Promise.resolve()
  try {
    const reader = openBeside(directory, { readOnly: true })
    const time = storeClockOf(options, thread.lastWrittenAt)
    const condition = new Condition(thread.files, () => time.now())
    let commits = 0
    let checkpoints: CheckpointThread | undefined
    const onCommit = (): void => {
      // A log that is long enough to be moved has had as many commits, and a short life needs no second thread.
      if (++commits === COMMITS_BEFORE_CHECKPOINTS)
        checkpoints = startCheckpointThread(directory, fault => condition.failed(fault))
    }
    closeOthers = async () => {
      await checkpoints?.close()
      reader.close()
    }
    const close = async (): Promise<void> => {
      await closeOthers()
      // The writer last: as the last connection it moves the log into the file.
      await thread.close()
    }
    const { store, ask } = storeOn({
      kind: 'sqlite',
      path: dataPath(directory),
      commit: batch => thread.commit(batch),
      reader,
      time,
      condition,
      onCommit,
      close,
    })
    await ask('endLeases', null)
    return store
  } catch (error) {
    await closeOthers()
    await thread.close()
    throw error
  }
}

/** The same store without a file and without a thread: all is gone when it is closed. */
export function openMemoryStore(options: ClockOptions = {}): Store {
  const connection = openInMemory()
  const run = createWorker(createWriter(connection), ':memory:')
  return storeOn({
    kind: 'memory',
    path: ':memory:',
    commit: async batch => run(batch),
    reader: connection,
    time: storeClockOf(options),
    close: async () => connection.close(),
  }).store
}

function storeClockOf({ clock = systemClock, bootMs }: ClockOptions, lastWrittenAt?: number): StoreClock {
  const ticks = bootMs ?? (clock === systemClock ? uptimeMs : undefined)
  return createStoreClock({
    clock,
    ...(ticks && { bootMs: ticks }),
    ...(lastWrittenAt !== undefined && { lastWrittenAt }),
  })
}

interface Parts {
  readonly kind: 'sqlite' | 'memory'
  readonly path: string
  readonly commit: (batch: Batch) => Promise<Committed>
  /** Sees all that was committed. */
  readonly reader: Connection
  readonly time: StoreClock
  /** Absent where there is no file. */
  readonly condition?: Condition
  readonly onCommit?: () => void
  readonly close: () => Promise<void>
}

const COMMITS_BEFORE_CHECKPOINTS = 100

const EXPIRE = cursorOf('expire', 'number', 'number')

interface OpenedStore {
  readonly store: Store
  readonly ask: <V extends WriterVerb>(verb: V, ask: AskOf<V>) => Promise<CommittedAnswer<V>>
}

function storeOn({ kind, path, commit, reader, time, condition, onCommit, close }: Parts): OpenedStore {
  const listeners = new Set<(hint: Hint) => void>()
  const queue = new CommitQueue({
    commit,
    now: () => time.now(),
    isInMemory: kind === 'memory',
    onHint: hint => listeners.forEach(listener => listener(hint)),
    onWrite(fault) {
      if (fault !== undefined) return condition?.failed(fault)
      condition?.wrote()
      onCommit?.()
    },
  })
  const turns = createTurns()
  const [tasks, records, ends] = [taskReader(reader), recordReader(reader), endsToTell(reader)]
  const [list, overview] = [listReader(reader, turns), overviewReader(reader, turns)]
  let closing: Promise<void> | undefined

  const refuseIfClosed = (): void => {
    if (closing !== undefined) throw new StoreUnavailableError('store-closed', 'the store was closed')
  }
  const ask: OpenedStore['ask'] = async (verb, asked) => {
    refuseIfClosed()
    condition?.refuse(verb, asked)
    return queue.ask(verb, asked)
  }
  const read = async <Value>(act: () => Value): Promise<Awaited<Value>> => {
    refuseIfClosed()
    try {
      return await act()
    } catch (error) {
      const fault = faultOf(error, path)
      if (fault === undefined) throw error
      condition?.couldNotRead(errorOf(fault))
      throw errorOf(fault)
    }
  }
  const closeAll = async (): Promise<void> => {
    await queue.drained()
    await close()
  }

  /** Asks the writer, and answers with the store's time and a name for the answer. */
  const write = async <V extends WriterVerb, Named>(
    verb: V,
    asked: AskOf<V>,
    name: (answer: AnswerOf<V>, now: number) => Named,
  ): Promise<{ readonly now: number } & Named> => {
    const { now, answer } = await ask(verb, asked)
    return { now, ...name(answer, now) }
  }

  const store: Store = {
    kind,
    durability: kind === 'sqlite' ? 'power-loss' : 'none',

    enqueue: newTasks => write('enqueue', newTasks.map(newRow), results => ({ results })),
    get: taskIds => read(() => tasks.get(taskIds)),
    queues: page => read(() => ({ now: time.now(), ...tasks.queues(page) })),
    leases: page => read(() => ({ now: time.now(), ...tasks.leases(page, time.now()) })),
    claim: claims =>
      write('claim', claims, (replies, now) => ({ answers: replies.map(reply => claimAnswerOf(reply, now)) })),
    settle: ends => write('settle', ends.map(settlementRow), words => ({ results: words.map(settledOf) })),
    expire: ({ cursor, ...asked }) => {
      const from = cursor === undefined ? ([-1, 0] as const) : EXPIRE.read(cursor)
      return write('expire', { ...asked, from }, ({ expired, next }) => ({
        expired,
        ...(next !== null && { nextCursor: EXPIRE.write([...next]) }),
      }))
    },
    async recall(asked) {
      assert(
        asked.tasks.length <= MOST_RECALLED,
        `a recall names ${asked.tasks.length} tasks, and may name ${MOST_RECALLED}`,
      )
      return write('recall', asked, recalled => ({ recalled }))
    },
    cancel: (taskId, change) => write('cancel', { taskId, ...change }, changed => changed),
    attemptNow: (taskId, change) => write('attemptNow', { taskId, ...change }, changed => changed),
    replay: (asks, change) => write('replay', { asks, ...change }, results => ({ results })),
    endsToTell: asked => read(() => ({ now: time.now(), ...ends(asked) })),
    endsTold: told => write('endsTold', told, () => ({})),

    beat: asked => write('beat', asked, fleet => fleet),
    take: asked => write('take', asked, taken => ({ taken })),
    give: asked => write('give', asked, given => ({ given })),
    remember: asked => write('remember', asked, remembered => ({ remembered })),
    memories: page => read(() => ({ now: time.now(), ...tasks.memories(page) })),
    onHint(listener) {
      // Wrapped, so that a listener that listens twice is told twice and can leave once.
      const own = (hint: Hint): void => listener(hint)
      listeners.add(own)
      return () => void listeners.delete(own)
    },

    write: (writes, audit) => write('write', { writes, ...(audit && { audit }) }, written => written),
    record: name => read(() => records.record(name)),
    records: page => read(() => records.records(page)),
    audit: page => read(() => records.audit(page)),

    list: page => read(() => list(page)),
    attempts: page => read(() => overview.attempts(page)),
    causes: page => read(() => overview.causes(page)),
    lanes: page => read(() => overview.lanes(page)),
    replayCounts: replayIds => read(() => overview.replayCounts(replayIds)),
    sweep: asked => write('sweep', asked, swept => ({ swept })),

    putBody: body => write('putBody', body, put => put),
    async bodies(names, neededUntil) {
      return (await ask('bodies', { names, ...(neededUntil !== undefined && { neededUntil }) })).answer
    },
    sweepBodies: asked => write('sweepBodies', asked, locations => ({ locations })),

    async health(): Promise<StoreHealth> {
      refuseIfClosed()
      condition?.look()
      // What failed is tried again, so that the problem ends when it does and not with the next task.
      if (condition?.mayPass) await ask('probe', null).catch(() => undefined)
      return { now: time.now(), clockSkewMs: time.skewMs(), ...condition?.problem }
    },
    close() {
      closing ??= closeAll()
      return closing
    },
  }
  return { store, ask }
}

function claimAnswerOf(reply: ClaimReply, now: number): ClaimAnswer {
  if (reply === null) return { kind: 'refused' }
  return { kind: 'claimed', tasks: reply.claimed.flatMap(rows => claimedTasksOf(rows, now)), heads: reply.heads }
}

function settledOf(word: SettledWord): Settled {
  return word === 'lost' ? { kind: 'lost' } : { kind: 'settled', status: word }
}
