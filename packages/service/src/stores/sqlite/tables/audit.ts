import type { AuditLine } from '../../task-store.ts'
import type { Connection } from '../file/connection.ts'

/** Who did what, written with what was done. */
export interface Audit {
  add(line: AuditLine, at: number): void
  /** Forgets lines that are older. */
  sweep(before: number, limit: number): number
}

export function createAudit(connection: Connection): Audit {
  const insert = connection.write(
    'insert into audit (at, tenant, actor, action, subject, reason, details) values (?, ?, ?, ?, ?, ?, ?)',
  )
  // Lines are in the order of their instants: the oldest tell whether there is anything to forget.
  const oldest = connection.rows<[auditId: number, at: number]>(
    'select audit_id, at from audit where audit_id > 0 order by audit_id limit ?',
  )
  const remove = connection.change('delete from audit where audit_id <= ?')
  return {
    add({ tenant, actor, action, subject, reason, details }, at) {
      insert(at, tenant, actor, action, subject, reason ?? null, details === undefined ? null : JSON.stringify(details))
    },
    sweep(before, limit) {
      const last = oldest(limit).findLast(([, at]) => at < before)
      return last === undefined ? 0 : remove(last[0])
    },
  }
}
