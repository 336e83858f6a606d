/** What operators set and the service keeps, and who did what: few, small, each change written with its line. */
import type { Page, PageAsk } from './records.ts'

export interface OperatorStore {
  /** Writes a record if it still has the version that was read, and its line of the audit with it. */
  writeRecord(ask: WriteRecord): Promise<{ readonly now: number } & WrittenRecord>
  /** Always exact. */
  record(name: RecordName): Promise<OperatorRecord | undefined>
  /** In order of their ids. */
  records(ask: RecordsPage): Promise<Page<OperatorRecord>>
  /** The newest first. A page may be short or empty and still have a cursor, for work is bounded. */
  auditTrail(ask: AuditPage): Promise<Page<AuditEntry>>
  /** Forgets lines that are older, and no more than `limit` of them. */
  sweepAudit(ask: SweepAudit): Promise<{ readonly now: number; readonly swept: number }>
}

export type RecordKind = 'tenant' | 'key' | 'secret' | 'destination' | 'control' | 'replay'

export interface RecordName {
  readonly kind: RecordKind
  /** Unique within its kind. */
  readonly id: string
}

export interface OperatorRecord extends RecordName {
  readonly tenant: string
  /** 1, and one more with every write. */
  readonly version: number
  readonly document: JsonObject
  readonly createdAt: number
  readonly changedAt: number
}

export interface WriteRecord extends RecordName {
  readonly tenant: string
  /** What it becomes; null: it is removed. */
  readonly document: JsonObject | null
  /** The version it must have; 0 when it must not be there. */
  readonly ifVersion: number
  /** A new one is refused where its tenant has so many of its kind already. */
  readonly most?: number
  /** Refused where another of its kind and tenant has the same `name` in its document. */
  readonly isNameUnique?: true
  /** Left out for what the service does by itself many times a minute. */
  readonly audit?: AuditLine
}

export type WrittenRecord =
  | { readonly kind: 'written'; readonly record: OperatorRecord }
  | { readonly kind: 'removed' }
  /** Another call wrote it meanwhile; `record` is its present state, absent when it is not there. */
  | { readonly kind: 'conflict'; readonly record?: OperatorRecord }
  | { readonly kind: 'full' }
  /** The name belongs to this one. */
  | { readonly kind: 'taken'; readonly record: OperatorRecord }

export interface RecordsPage extends PageAsk {
  readonly kind: RecordKind
  /** Left out: of all. */
  readonly tenant?: string
}

/** Who did what to whom, and why. */
export interface AuditLine {
  /** Whose matter it is: that tenant may read it. */
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

export interface SweepAudit {
  readonly before: number
  readonly limit: number
}

export type JsonObject = { readonly [name: string]: unknown }

/** Attempts and requests are made by these: whoever beats hears that one of them changed. Replays change too often. */
export function isReadAtBeats(kind: RecordKind): boolean {
  return kind !== 'replay'
}

/** A record's document as whoever writes its kind knows it: what was written is what is read. */
export function documentOf<Document>({ document }: Pick<OperatorRecord, 'document'>): Document {
  return document as unknown as Document
}
