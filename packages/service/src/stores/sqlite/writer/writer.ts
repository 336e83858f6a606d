import { createStewards, type Stewards } from '../../stewards.ts'
import type { Hint } from '../../task-store.ts'
import type { Connection } from '../file/connection.ts'
import { readRowsOfTasks } from '../rows/rows-of-tasks.ts'
import { readWholeTasks, type WholeTasks } from '../rows/whole-tasks.ts'
import { createAudit, type Audit } from '../tables/audit.ts'
import { createBodies, type Bodies } from '../tables/bodies.ts'
import { createCallbacks, type Callbacks } from '../tables/callbacks.ts'
import { createDeadLetters, type DeadLetters } from '../tables/dead-letters.ts'
import { createLanes, type Lanes, type QueueEntry } from '../tables/lanes.ts'
import { createLeases, type LeaseEntry, type Leases } from '../tables/leases.ts'
import { createLog, type Log } from '../tables/log.ts'
import { createMemories, type Memories } from '../tables/memories.ts'
import { createPolicies, type Policies } from '../tables/policies.ts'
import { createRecords, type Records } from '../tables/records.ts'
import { createReplays, type Replays } from '../tables/replays.ts'
import { createSpans, type Spans } from '../tables/spans.ts'
import { createSweeps, type Sweeps } from '../tables/sweeps.ts'
import { createTasks, type Tasks } from '../tables/tasks.ts'
import { createWaiting, type Waiting } from '../tables/waiting.ts'

/** All that a verb may touch, at the one instant of its transaction. */
export interface Writer {
  /** The store's clock. */
  now: number
  readonly connection: Connection
  readonly stewards: Stewards
  readonly lanes: Lanes
  readonly tasks: Tasks
  readonly spans: Spans
  readonly waiting: Waiting
  readonly leases: Leases
  readonly log: Log
  readonly dead: DeadLetters
  readonly replays: Replays
  readonly bodies: Bodies
  readonly policies: Policies
  readonly memories: Memories
  readonly records: Records
  readonly callbacks: Callbacks
  readonly audit: Audit
  readonly sweeps: Sweeps
  readonly whole: WholeTasks
  /** Says, once it is committed, that a queue has something due at this instant. */
  hint(queue: QueueEntry, dueAt: number): void
  /** The same, unless the claimer still serves the lane: then it knows what it writes. */
  hintOthers(lease: LeaseEntry, queue: QueueEntry, dueAt: number): void
  /** The hints since the last call: of each queue the earliest. */
  takeHints(): Hint[]
  /** A transaction begins: reads what must be known, the first time and whenever it was forgotten. */
  begin(): void
  /** Writes what was counted meanwhile, the last step before the commit; says whether anything was written at all. */
  flush(): boolean
  /** Drops all that was remembered of a transaction that came to nothing. */
  forget(): void
}

export interface WriterOptions {
  /** So many rows of the log, or keys, are filed together; as many as is good unless told. */
  readonly filedTogether?: number
}

export function createWriter(connection: Connection, { filedTogether }: WriterOptions = {}): Writer {
  const lanes = createLanes(connection)
  const tasks = createTasks(connection, filedTogether)
  const spans = createSpans(connection)
  const leases = createLeases(connection)
  const replays = createReplays(connection)
  const rows = readRowsOfTasks(connection)
  const log = createLog(connection, rows, filedTogether)
  const callbacks = createCallbacks(connection)
  const writeInstant = connection.write('update store set last_at = ?1 where last_at < ?1')
  const countChanges = connection.row<[number]>('select total_changes()')
  const stewards = createStewards()
  const hints = new Map<QueueEntry, number>()
  let knows = false
  let changesBefore = 0

  const hint = (queue: QueueEntry, dueAt: number): void =>
    void hints.set(queue, Math.min(dueAt, hints.get(queue) ?? Infinity))

  return {
    now: 0,
    connection,
    stewards,
    lanes,
    tasks,
    spans,
    waiting: createWaiting(connection),
    leases,
    log,
    dead: createDeadLetters(connection, spans),
    replays,
    bodies: createBodies(connection),
    policies: createPolicies(connection),
    memories: createMemories(connection),
    records: createRecords(connection),
    callbacks,
    audit: createAudit(connection),
    sweeps: createSweeps(connection),
    whole: readWholeTasks(connection, rows),
    hint,
    hintOthers(lease, queue, dueAt) {
      if (lease.steward === null || !stewards.isSteward(queue.lane.partition, lease.steward)) hint(queue, dueAt)
    },
    takeHints() {
      const taken = [...hints].map(([{ key, lane }, dueAt]) => ({
        partition: lane.partition,
        lane: lane.key,
        queue: key,
        dueAt,
      }))
      hints.clear()
      return taken
    },
    begin() {
      changesBefore = countChanges()![0]
      if (!knows) for (const part of [lanes, tasks, log, callbacks]) part.recall()
      knows = true
      for (const part of [tasks, log]) part.begin()
    },
    flush() {
      for (const part of [lanes, tasks, spans, replays, log]) part.flush()
      if (countChanges()![0] === changesBefore) return false
      writeInstant(this.now)
      return true
    },
    forget() {
      hints.clear()
      for (const part of [lanes, tasks, spans, replays, leases, log]) part.forget()
      knows = false
    },
  }
}
