import type { AuditEntry, JsonObject, OperatorRecord, RecordKind } from '../../task-store.ts'

export type RecordRow = readonly [
  kind: RecordKind,
  id: string,
  tenant: string,
  version: number,
  document: string,
  createdAt: number,
  changedAt: number,
]

export const RECORD_COLUMNS = 'kind, id, tenant, version, document, created_at, changed_at'

export function recordOf([kind, id, tenant, version, document, createdAt, changedAt]: RecordRow): OperatorRecord {
  return { kind, id, tenant, version, document: JSON.parse(document) as JsonObject, createdAt, changedAt }
}

export type AuditRow = readonly [
  auditId: number,
  at: number,
  tenant: string,
  actor: string,
  action: string,
  subject: string,
  reason: string | null,
  details: string | null,
]

export const AUDIT_COLUMNS = 'audit_id, at, tenant, actor, action, subject, reason, details'

export function auditOf([auditId, at, tenant, actor, action, subject, reason, details]: AuditRow): AuditEntry {
  return {
    auditId: String(auditId),
    at,
    tenant,
    actor,
    action,
    subject,
    ...(reason !== null && { reason }),
    ...(details !== null && { details: JSON.parse(details) as JsonObject }),
  }
}
