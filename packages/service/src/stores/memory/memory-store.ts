import type { Clock } from '@secondwind/resilience'
import { assertFew } from '../recall.ts'
import { createStewards } from '../stewards.ts'
import { createStoreClock } from '../store-clock.ts'
import { StoreUnavailableError, type Answer, type AuditLine, type Changed, type TaskStore } from '../task-store.ts'
import { AuditBook } from './audit-book.ts'
import { BodyBook } from './body-book.ts'
import { Book } from './book.ts'
import { claim, endedLeases, expire, leases, leasesOf, queues } from './claims.ts'
import { release, settle, type EndedLease } from './ends.ts'
import { HintBoard } from './hint-board.ts'
import { enqueue } from './intake.ts'
import { LaneMemories } from './lane-memories.ts'
import { attemptNow, cancel, replay } from './operators.ts'
import { PolicyBook } from './policy-book.ts'
import { attempts, causes, deadLetters, laneCounters, list } from './reading.ts'
import { recall } from './recall.ts'
import { RecordBook } from './record-book.ts'
import { sweep, sweepLanes } from './sweep.ts'

export interface MemoryStoreOptions {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
  /** Time since the machine was started, suspends included; left out, suspends go unseen. */
  readonly bootMs?: () => number
}

/** The reference: what the other stores are compared with, and enough for trying things out. It ends with its process. */
export function openMemoryStore(options: MemoryStoreOptions): TaskStore {
  const time = createStoreClock(options)
  const book = new Book()
  const bodies = new BodyBook()
  const stewards = createStewards()
  const memories = new LaneMemories()
  const audit = new AuditBook()
  const policies = new PolicyBook(audit)
  const records = new RecordBook(audit)
  const hints = new HintBoard()
  let isClosed = false

  const read = async <Result>(verb: () => Result): Promise<Result> => {
    if (isClosed) throw new StoreUnavailableError('store-closed', 'the store was closed; nothing can be asked of it')
    return verb()
  }

  /** A call is applied in one piece and at one instant; what it has to tell goes out behind it. */
  const apply = <Result>(verb: (now: number) => Result): Promise<Answer & Result> =>
    read(() => {
      const now = time.now()
      const result = verb(now)
      hints.send()
      return { now, ...result }
    })

  /** A steward knows what it has written itself, and hears of what a former one did. */
  const told = <Result>({ result, entry }: EndedLease<Result>): Result => {
    if (entry !== undefined && !stewards.isSteward(entry.partition, entry.claimed!.steward)) hints.note(entry)
    return result
  }

  /** What changed nothing was not done. */
  const noted = (line: AuditLine | undefined, now: number, changed: Changed): Changed => {
    if (line !== undefined && changed.kind === 'changed') audit.add(line, now)
    return changed
  }

  return {
    kind: 'memory',
    durability: 'none',

    enqueue: (tasks, limits) =>
      apply(now => ({ results: tasks.map(task => enqueue({ book, bodies, hints }, task, limits, now)) })),

    beat: instance => apply(now => ({ ...stewards.beat(instance, now), recordsVersion: records.version })),
    take: ask => apply(() => ({ taken: stewards.take(ask) })),
    give: ask => apply(() => ({ given: stewards.give(ask) })),

    queues: ask => apply(() => queues(book, ask)),
    leases: ask => apply(() => leases(book, ask)),
    claim: ask =>
      apply(now =>
        stewards.isSteward(ask.partition, ask.steward)
          ? { kind: 'claimed', ...claim(book, ask, now) }
          : { kind: 'refused' },
      ),
    endedLeases: ({ partition, limit }) => apply(now => ({ tasks: endedLeases(book, partition, limit, now) })),
    leasesOf: ({ partition, token }) => apply(() => ({ taskIds: leasesOf(book, partition, token) })),
    expire: ask =>
      apply(now => (stewards.isSteward(ask.partition, ask.steward) ? expire(book, ask, now) : { expired: [] })),
    recall: ask =>
      apply(() => {
        assertFew(ask)
        return { recalled: stewards.isSteward(ask.partition, ask.steward) ? recall(book, ask) : [] }
      }),
    remember: ({ partition, steward, lane, memory }) =>
      apply(() => {
        const remembered = stewards.isSteward(partition, steward)
        if (remembered) memories.write(partition, lane, memory)
        return { remembered }
      }),
    memories: ask => apply(() => memories.list(ask)),

    settle: settlements => apply(now => ({ results: settlements.map(each => told(settle(book, each, now))) })),
    release: held => apply(now => ({ results: held.map(each => told(release(book, each, now))) })),

    cancel: (taskId, ask = {}) => apply(now => noted(ask.audit, now, cancel(book, { ...ask, taskId }, now))),
    attemptNow: (taskId, ask = {}) =>
      apply(now => noted(ask.audit, now, attemptNow(book, hints, { ...ask, taskId }, now))),
    replay: ask => apply(now => noted(ask.audit, now, replay(book, hints, ask, now))),
    replayMany: (asks, limits) =>
      apply(now => ({
        results: asks.map(ask => replay(book, hints, { ...ask, ...(limits && { limits }) }, now).kind),
      })),

    get: taskId => read(() => book.find(taskId)?.task),
    attempts: ask => read(() => attempts(book, ask)),
    list: ask => read(() => list(book, ask)),
    causes: ask => read(() => causes(book, ask)),
    deadLetters: ask => read(() => deadLetters(book, ask)),
    replays: ask => read(() => book.replays.list(records, ask)),
    replayCounts: replayId => read(() => book.replays.countsOf(replayId)),
    counters: () =>
      read(() => {
        const { attempts: _, firstAttempts: __, ...tasks } = book.total
        return { tasks }
      }),
    laneCounters: ask => read(() => laneCounters(book, ask)),

    putPolicy: ask => apply(now => policies.put(ask, now)),
    policy: (name, version) => read(() => policies.find(name, version)),
    policies: ask => read(() => policies.list(ask)),
    policyVersions: ask => read(() => policies.versions(ask)),

    callbacks: ask => apply(() => book.callbacks.due(ask)),
    strikeCallbacks: ends =>
      apply(() => {
        for (const end of ends) book.callbacks.strike(end)
        return {}
      }),

    writeRecord: ask => apply(now => records.write(ask, now)),
    record: name => read(() => records.find(name)),
    records: ask => read(() => records.list(ask)),
    auditTrail: ask => read(() => audit.list(ask)),
    sweepAudit: ({ before, limit }) => apply(() => ({ swept: audit.sweep(before, limit) })),

    forgetReplay: replayId =>
      apply(() => {
        book.replays.forget(replayId)
        return {}
      }),
    putBody: ask => apply(now => bodies.put(ask, now)),
    body: name => read(() => bodies.find(name)),
    sweepBodies: ask => apply(() => ({ locations: bodies.sweep(ask) })),
    keptLocations: locations => read(() => bodies.kept(locations)),

    sweep: ask => apply(now => ({ swept: sweep(book, bodies, ask, now) })),
    sweepLanes: ask => apply(() => sweepLanes(book, memories, ask)),
    health: () => read(() => ({ now: time.now(), clockSkewMs: time.skewMs() })),
    onHint: listener => hints.listen(listener),
    close: async () => {
      isClosed = true
    },
  }
}
