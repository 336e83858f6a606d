import type { Caller } from '../../access/caller.ts'
import type { AuditLine } from '../../stores/task-store.ts'

/** What the audit says of something that a caller did. */
export function lineBy({ actor, tenant }: Caller, action: string, subject: string, reason?: string): AuditLine {
  return { tenant, actor, action, subject, ...(reason !== undefined && { reason }) }
}
