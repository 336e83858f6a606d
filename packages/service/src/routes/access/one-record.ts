/** A key or a secret by its id: what both have in common. */
import type { FastifyRequest } from 'fastify'
import { Type, type TObject } from 'typebox'
import type { AuditLine, RecordStore, RecordWrite, StoredRecord } from '../../stores/store.ts'
import { Refusal } from '../answers/refusal.ts'
import { refuseOtherVersion } from '../requests/if-match.ts'
import { parameters } from '../schemas/schema.ts'

type What = 'key' | 'secret'

export function pathOf(what: What): TObject {
  return parameters({ [`${what}Id`]: Type.String({ pattern: '^[0-9a-f]{16}$', 'x-takes': `the id of a ${what}` }) })
}

interface Replacing {
  readonly what: What
  /** The record as it was read. */
  readonly record: StoredRecord
  /** Null: it is removed. */
  readonly document: object | null
  /** Other records that belong to the same write. */
  readonly along?: readonly RecordWrite[]
  readonly audit: AuditLine
  readonly write: (writes: readonly RecordWrite[], audit: AuditLine) => ReturnType<RecordStore['write']>
}

/** Changes or removes a record; refused where another caller was quicker. Answers it as it is now, or was last. */
export async function replaceRecord(
  request: FastifyRequest,
  { what, record, document, along = [], audit, write }: Replacing,
): Promise<StoredRecord> {
  const { kind, id, tenant, version: ifVersion } = record
  refuseOtherVersion(request, record)
  const replaced = { kind, id, tenant, document: document === null ? null : { ...document }, ifVersion }
  const written = await write([replaced, ...along], audit)
  // A removed record is left out.
  if (written.kind === 'written') return written.records.find(each => each.id === id) ?? record
  refuseOtherVersion(request, written.record)
  throw changedMeanwhile(what)
}

export function changedMeanwhile(what: What): Refusal {
  return new Refusal('write-conflict', {
    detail: `Another caller changed this ${what} at the same moment: look at it again.`,
  })
}
