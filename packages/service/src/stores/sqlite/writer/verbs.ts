import type { ReplayCounts } from '../../../task/replay/counts.ts'
import type { Callback } from '../../../task/callback.ts'
import type { Task } from '../../../task/task.ts'
import type {
  Changed,
  Claim,
  AuditLine,
  BodyName,
  BodyRecord,
  Counters,
  EndName,
  Enqueued,
  Expire,
  Fleet,
  HeldLease,
  LeaseHead,
  NewPolicy,
  OperatorRecord,
  PageAsk,
  PartitionLimit,
  PartitionPage,
  PolicyName,
  PolicyRecord,
  PutBody,
  PutBodyResult,
  PutPolicy,
  QueueHead,
  Recall,
  RecordName,
  Remember,
  Replay,
  Sweep,
  SweepAudit,
  SweepBodies,
  Take,
  WriteRecord,
  WrittenRecord,
} from '../../task-store.ts'
import { moveLog } from '../mover/move-log.ts'
import type { From, Slice } from '../rows/slice.ts'
import type { HeldRows, SettlementRow } from '../rows/task-rows.ts'
import type { DueCallbacks } from '../tables/callbacks.ts'
import { putBody, sweepBodies } from './bodies.ts'
import { claim, endedLeases, type ClaimReply } from './claim.ts'
import { enqueue, type EnqueueAsk } from './enqueue.ts'
import { attemptNow, cancel, replay, replayMany, type OperatedTask, type ReplayManyAsk } from './operate.ts'
import { putPolicy } from './put-policy.ts'
import { recall } from './recall.ts'
import { recount } from './recount.ts'
import { release } from './release.ts'
import { settle, type SettledWord } from './settle.ts'
import { expire, leases, leasesOf, queues, remember, type Expired } from './steward.ts'
import { sweep, sweepLanes } from './sweep.ts'
import { writeRecord } from './write-record.ts'
import type { Writer } from './writer.ts'

/** What the writer can be asked for, and what it answers; all of it plain data, for it crosses between threads. */
export interface WriterVerbs {
  enqueue(ask: EnqueueAsk): Enqueued[]
  beat(instance: string): Fleet
  take(ask: Take): boolean
  give(ask: { readonly partition: number; readonly steward: string }): boolean
  queues(ask: From<PartitionPage, [queueId: number]>): Slice<QueueHead, [number]>
  leases(ask: From<PartitionPage, [endsAt: number, seq: number]>): Slice<LeaseHead, [number, number]>
  claim(ask: Claim): ClaimReply
  endedLeases(ask: PartitionLimit): HeldRows[]
  leasesOf(ask: { readonly partition: number; readonly token: string }): string[]
  expire(ask: From<Expire, [dueAt: number, seq: number]>): Expired
  recall(ask: Recall): string[]
  remember(ask: Remember): boolean
  settle(settlements: readonly SettlementRow[]): SettledWord[]
  release(leases: readonly HeldLease[]): ('released' | 'lost')[]
  cancel(ask: OperatedTask): Changed
  attemptNow(ask: OperatedTask): Changed
  replay(ask: Replay): Changed
  replayMany(ask: ReplayManyAsk): Changed['kind'][]
  replayCounts(replayId: string): ReplayCounts
  forgetReplay(replayId: string): null
  get(taskId: string): Task | undefined
  counters(ask: null): Counters
  putPolicy(ask: NewPolicy): PutPolicy
  policy(ask: { readonly name: PolicyName; readonly version?: number }): PolicyRecord | undefined
  callbacks(ask: DueCallbacks): Slice<Callback, [lane: string]>
  strikeCallbacks(ends: readonly EndName[]): null
  writeRecord(ask: WriteRecord): WrittenRecord
  record(name: RecordName): OperatorRecord | undefined
  sweepAudit(ask: SweepAudit): number
  putBody(ask: PutBody): PutBodyResult
  body(name: BodyName): BodyRecord | undefined
  sweepBodies(ask: SweepBodies): string[]
  keptLocations(locations: readonly string[]): string[]
  sweep(ask: Sweep): number
  sweepLanes(ask: From<PageAsk, [laneId: number]>): Slice<string, [number]>
  /** Ends all leases of an earlier process. */
  endLeases(ask: null): null
  /** Mends counts that are below zero. */
  recount(ask: null): null
  /** Finds out whether there is room to write. */
  probe(ask: null): null
  /** Moves what is left of the log into the file. */
  moveRest(ask: null): null
}

export type Verb = keyof WriterVerbs
export type AskOf<V extends Verb> = Parameters<WriterVerbs[V]>[0]
export type AnswerOf<V extends Verb> = ReturnType<WriterVerbs[V]>

export const VERBS: { readonly [V in Verb]: (writer: Writer, ask: AskOf<V>) => AnswerOf<V> } = {
  enqueue,
  beat: ({ stewards, records, now }, instance) => ({
    ...stewards.beat(instance, now),
    recordsVersion: records.version,
  }),
  take: ({ stewards }, ask) => stewards.take(ask),
  give: ({ stewards }, ask) => stewards.give(ask),
  queues,
  leases,
  claim,
  endedLeases,
  leasesOf,
  expire,
  recall,
  remember,
  settle,
  release,
  cancel: (writer, ask) => noted(writer, ask.audit, cancel(writer, ask)),
  attemptNow: (writer, ask) => noted(writer, ask.audit, attemptNow(writer, ask)),
  replay: (writer, ask) => noted(writer, ask.audit, replay(writer, ask)),
  replayMany,
  replayCounts: ({ replays }, replayId) => replays.countsOf(replayId),
  forgetReplay({ replays }, replayId) {
    replays.remove(replayId)
    return null
  },
  get: ({ whole }, taskId) => whole.byId(taskId),
  counters: ({ lanes }) => ({ tasks: { ...lanes.totals } }),
  putPolicy,
  policy: ({ policies }, { name, version }) => policies.read(name, version),
  callbacks: ({ callbacks }, ask) => callbacks.due(ask),
  strikeCallbacks({ callbacks }, ends) {
    for (const end of ends) callbacks.strike(end)
    return null
  },
  writeRecord,
  record: ({ records }, name) => records.find(name),
  sweepAudit: ({ audit }, { before, limit }) => audit.sweep(before, limit),
  putBody,
  body: ({ bodies }, name) => bodies.find(name),
  sweepBodies,
  keptLocations: ({ bodies }, locations) => bodies.kept(locations),
  sweep,
  sweepLanes,
  endLeases({ leases, now }) {
    leases.endAll(now)
    return null
  },
  recount(writer) {
    recount(writer)
    return null
  },
  probe({ connection }) {
    connection.exec('insert into probe values (zeroblob(65536)); delete from probe')
    return null
  },
  moveRest({ connection }) {
    moveLog(connection)
    return null
  },
}

/** What changed nothing was not done. */
function noted({ audit, now }: Writer, line: AuditLine | undefined, changed: Changed): Changed {
  if (line !== undefined && changed.kind === 'changed') audit.add(line, now)
  return changed
}

/** Of the register in memory: a transaction that fails does not take them back, so that they have no part in one. */
export const FLEET: ReadonlySet<Verb> = new Set<Verb>(['beat', 'take', 'give'])

/** What has no part in a transaction. */
export const ALONE: ReadonlySet<Verb> = new Set<Verb>([...FLEET, 'moveRest'])

/** A commit that holds nothing else needs no disk. */
export const READS: ReadonlySet<Verb> = new Set<Verb>([
  'queues',
  'leases',
  'endedLeases',
  'leasesOf',
  'replayCounts',
  'get',
  'counters',
  'policy',
  'record',
  'callbacks',
  'body',
  'keptLocations',
])
