import type { Task } from '../task/task.ts'
import type { AuditLine } from './operator-records.ts'

/** How something is done to a task. */
export interface Operating {
  readonly audit?: AuditLine
  /** The version it must have; left out: whatever it has. */
  readonly ifVersion?: number
}

export type Changed =
  | { readonly kind: 'changed'; readonly task: Task }
  /** It is no longer the version that was asked for; `task` says what it is. */
  | { readonly kind: 'conflict'; readonly task: Task }
  /** Its status does not allow it; `task` says which it is. */
  | { readonly kind: 'unchanged'; readonly task: Task }
  /** There is no room for it to wait in; it has stayed as it is. */
  | { readonly kind: 'full'; readonly task: Task }
  | { readonly kind: 'unknown' }
