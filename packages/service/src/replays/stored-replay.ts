/** A replay as the store keeps it: a record, and the counts of the tasks that it brought back. */
import { documentOf, type AuditLine, type HistoryStore, type RecordStore, type StoredRecord } from '../stores/store.ts'
import { writtenRecord } from '../stores/written-record.ts'
import { partitionOf, taskIdOf } from '../task/lane.ts'
import { NO_COUNTS, type ReplayCounts } from '../task/replay/counts.ts'
import type { ReplayDocument } from '../task/replay/replay.ts'

export interface StoredReplay {
  readonly replayId: string
  readonly tenant: string
  readonly version: number
  readonly replay: ReplayDocument
}

/** All replays of a tenant have one steward. It lets them run one after another where they are in each other's way. */
export function newReplayId(tenant: string, now: number, random: Uint8Array): string {
  return taskIdOf(now, partitionOf(tenant), random)
}

export async function findReplay(
  store: Pick<RecordStore, 'record'>,
  replayId: string,
): Promise<StoredReplay | undefined> {
  const record = await store.record({ kind: 'replay', id: replayId })
  return record && storedReplay(record)
}

export function storedReplay(record: StoredRecord): StoredReplay {
  const { id, tenant, version } = record
  return { replayId: id, tenant, version, replay: documentOf<ReplayDocument>(record) }
}

export async function countsOf(store: Pick<HistoryStore, 'replayCounts'>, replayId: string): Promise<ReplayCounts> {
  const [counts = NO_COUNTS] = await store.replayCounts([replayId])
  return counts
}

/** Undefined when another caller has written it since it was read. */
export async function writeReplay(
  store: Pick<RecordStore, 'write'>,
  { replayId, tenant, version }: Omit<StoredReplay, 'replay'>,
  replay: ReplayDocument,
  audit?: AuditLine,
): Promise<StoredReplay | undefined> {
  const document = { ...replay }
  const answer = await store.write([{ kind: 'replay', id: replayId, tenant, document, ifVersion: version }], audit)
  return answer.kind === 'written' ? storedReplay(writtenRecord(answer)) : undefined
}

/** Its counts go with it. */
export async function forgetReplay(
  store: Pick<RecordStore, 'write'>,
  { replayId, tenant, version }: StoredReplay,
): Promise<void> {
  await store.write([{ kind: 'replay', id: replayId, tenant, document: null, ifVersion: version }])
}
