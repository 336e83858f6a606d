import { partitionOf } from '../task/lane.ts'
import type { ReplayDocument } from '../task/replay/replay.ts'
import { taskIdOf } from '../task/task-id.ts'
import { documentOf, type AuditLine, type OperatorRecord, type TaskStore } from '../stores/task-store.ts'

/** A replay as the store keeps it. */
export interface StoredReplay {
  readonly replayId: string
  readonly tenant: string
  readonly version: number
  readonly replay: ReplayDocument
}

/** Those of a tenant have one steward, who lets one after another go where they are in each other's way. */
export function newReplayId(tenant: string, now: number, random: Uint8Array): string {
  return taskIdOf(now, partitionOf(tenant), random)
}

export async function findReplay(
  store: Pick<TaskStore, 'record'>,
  replayId: string,
): Promise<StoredReplay | undefined> {
  const record = await store.record({ kind: 'replay', id: replayId })
  return record && storedReplay(record)
}

export function storedReplay(record: OperatorRecord): StoredReplay {
  const { id, tenant, version } = record
  return { replayId: id, tenant, version, replay: documentOf<ReplayDocument>(record) }
}

/** Undefined when somebody else has written it since it was read. */
export async function writeReplay(
  store: TaskStore,
  { replayId, tenant, version }: StoredReplay,
  replay: ReplayDocument,
  audit?: AuditLine,
): Promise<StoredReplay | undefined> {
  const document = { ...replay }
  const name = { kind: 'replay', id: replayId, tenant } as const
  const answer = await store.writeRecord({ ...name, document, ifVersion: version, ...(audit && { audit }) })
  return answer.kind === 'written' ? storedReplay(answer.record) : undefined
}
