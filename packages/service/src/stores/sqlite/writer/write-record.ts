import { isReadAtBeats, type JsonObject, type WriteRecord, type WrittenRecord } from '../../task-store.ts'
import type { Writer } from './writer.ts'

/** Writes a record if it still has the version that was read. */
export function writeRecord({ now, records, audit }: Writer, ask: WriteRecord): WrittenRecord {
  const { kind, id, tenant, document, ifVersion, most = Infinity } = ask
  const present = records.find(ask)
  if ((present?.version ?? 0) !== ifVersion) return { kind: 'conflict', ...(present && { record: present }) }
  if (present === undefined && records.count(kind, tenant) >= most) return { kind: 'full' }
  const namesake = ask.isNameUnique && records.namesake(ask)
  if (namesake) return { kind: 'taken', record: namesake }
  if (ask.audit !== undefined) audit.add(ask.audit, now)
  if (isReadAtBeats(kind)) records.version++
  if (document === null) {
    records.remove(ask)
    return { kind: 'removed' }
  }
  const createdAt = present?.createdAt ?? now
  // As it will be read again: a field that is undefined is none.
  const kept = JSON.parse(JSON.stringify(document)) as JsonObject
  const record = { kind, id, tenant, version: ifVersion + 1, document: kept, createdAt, changedAt: now }
  records.write(record)
  return { kind: 'written', record }
}
