/** What operators and tenants set and the service keeps, and who did what: few, small, each change written with its line. */
import type { Answer, Page, PageAsk } from './store.ts'

export interface RecordStore {
  /** Writes all of these records or none, each if it still has the version that was read; the audit line with them. */
  write(writes: readonly RecordWrite[], audit?: AuditLine): Promise<Answer & Written>
  /** Always exact. */
  record(name: RecordName): Promise<StoredRecord | undefined>
  /** In order of their ids. */
  records(ask: RecordsPage): Promise<Page<StoredRecord>>
  /** The newest first. A page may be short or empty and still have a cursor, for work is bounded. */
  audit(ask: AuditPage): Promise<Page<AuditEntry>>
}

export type RecordKind = (typeof RECORD_KINDS)[number]

export const RECORD_KINDS = [
  'tenant',
  'key',
  'secret',
  'destination',
  'control',
  'replay',
  'policy',
  'policy-version',
  /** Stands for a name that must be unique, and is written along with the record that has it. */
  'name',
  /** Stands for all keys of operators: two that take each other's rights away at once cannot both succeed. */
  'access',
] as const

export interface RecordName {
  readonly kind: RecordKind
  /** Unique within its kind. */
  readonly id: string
}

export interface StoredRecord extends RecordName {
  readonly tenant: string
  /** 1, and one more with every write. */
  readonly version: number
  readonly document: JsonObject
  readonly createdAt: number
  readonly changedAt: number
}

export interface RecordWrite extends RecordName {
  readonly tenant: string
  /** Its new content; null: it is removed. A replay that is removed takes its counts with it. */
  readonly document: JsonObject | null
  /** The version it must have; 0 when it must not be there. Left out: any. */
  readonly ifVersion?: number
}

export type Written =
  /** In the order of the writes; a removed record is left out. */
  | { readonly kind: 'written'; readonly records: readonly StoredRecord[] }
  /** The first record that has another version now; `record` is absent when it is not there. */
  | { readonly kind: 'conflict'; readonly name: RecordName; readonly record?: StoredRecord }

export interface RecordsPage extends PageAsk {
  readonly kind: RecordKind
  /** Left out: of all. */
  readonly tenant?: string
  /** Only ids that begin so. */
  readonly prefix?: string
  /** By descending id. */
  readonly order?: 'newest-first'
}

/** Who did what to whom, and why. */
export interface AuditLine {
  /** The tenant whose matter it is: that tenant may read the line. */
  readonly tenant: string
  /** The id of a key, `local` without keys, `system` for what the service decided by itself. */
  readonly actor: string
  /** Noun and verb: `task.cancel`, `control.create`, `key.revoke` … */
  readonly action: string
  readonly subject: string
  readonly reason?: string
  /** Never anything secret. */
  readonly details?: JsonObject
}

export interface AuditEntry extends AuditLine {
  /** A UUIDv7: ids are in the order of the lines. */
  readonly auditId: string
  readonly at: number
}

export interface AuditPage extends PageAsk {
  readonly tenant?: string
  readonly actor?: string
  readonly action?: string
  readonly subject?: string
  /** Part of the range. */
  readonly since?: number
  /** No part of it. */
  readonly until?: number
}

export type JsonObject = { readonly [name: string]: unknown }

/** Attempts and requests depend on these, so that every beat says whether one of them changed. */
export function isReadAtBeats(kind: RecordKind): boolean {
  return ['tenant', 'key', 'secret', 'destination', 'control'].includes(kind)
}

/** A record's document in the type of its kind: a document is read as it was written. */
export function documentOf<Document>({ document }: Pick<StoredRecord, 'document'>): Document {
  return document as unknown as Document
}
