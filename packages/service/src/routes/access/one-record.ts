/** A key or a secret by its id: what both have in common. */
import type { FastifyRequest } from 'fastify'
import { Type, type TObject } from 'typebox'
import type { AuditLine, OperatorRecord, WriteRecord, WrittenRecord } from '../../stores/task-store.ts'
import { Refusal } from '../answers/refusal.ts'
import { refuseOtherVersion } from '../requests/if-match.ts'
import { parameters } from '../schemas/schema.ts'

type What = 'key' | 'secret'

export function pathOf(what: What): TObject {
  return parameters({ [`${what}Id`]: Type.String({ pattern: '^[0-9a-f]{16}$', 'x-takes': `the id of a ${what}` }) })
}

interface Replacing {
  readonly what: What
  /** As it was read. */
  readonly record: OperatorRecord
  /** Null: it goes. */
  readonly document: object | null
  readonly audit: AuditLine
  readonly write: (ask: WriteRecord) => Promise<WrittenRecord>
}

/** What was read becomes something else, or goes; refused where somebody else was quicker. */
export async function replaceRecord(
  request: FastifyRequest,
  { what, record, document, audit, write }: Replacing,
): Promise<OperatorRecord> {
  const { kind, id, tenant, version: ifVersion } = record
  refuseOtherVersion(request, record)
  const written = await write({
    kind,
    id,
    tenant,
    document: document === null ? null : { ...document },
    ifVersion,
    audit,
  })
  if (written.kind === 'conflict') refuseOtherVersion(request, written.record)
  if (written.kind === 'removed') return record
  if (written.kind === 'written') return written.record
  throw changedMeanwhile(what)
}

export function changedMeanwhile(what: What): Refusal {
  return new Refusal('write-conflict', { detail: `Somebody else changed this ${what} at the same moment: look again.` })
}
