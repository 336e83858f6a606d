import type { Caller } from '../../access/caller.ts'
import type { AuditLine } from '../../stores/store.ts'

interface Done {
  /** Whose it is that was changed, and who reads of it: an operator changes what is another's than the one it acts for. */
  readonly tenant: string
  readonly action: string
  readonly subject: string
  readonly reason?: string | undefined
}

/** What the audit says of something that a caller did. */
export function lineBy({ actor }: Caller, { tenant, action, subject, reason }: Done): AuditLine {
  return { tenant, actor, action, subject, ...(reason !== undefined && { reason }) }
}
