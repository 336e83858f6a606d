import { cursorOf } from '../cursor.ts'
import type { AuditEntry, AuditLine, AuditPage, Page } from '../task-store.ts'
import { pageFrom } from './page.ts'

const AUDIT = cursorOf('audit', 'number')

/** Who did what, the oldest first. */
export class AuditBook {
  #entries: AuditEntry[] = []
  #lastId = 0

  add(line: AuditLine, now: number): void {
    this.#entries.push({ auditId: String(++this.#lastId), at: now, ...line })
  }

  list({ tenant, actor, action, subject, since = -Infinity, until = Infinity, ...page }: AuditPage): Page<AuditEntry> {
    const wanted = { tenant, actor, action, subject }
    const names = ['tenant', 'actor', 'action', 'subject'] as const
    const entries = this.#entries.filter(
      entry =>
        entry.at >= since &&
        entry.at < until &&
        names.every(name => wanted[name] === undefined || wanted[name] === entry[name]),
    )
    return pageFrom(entries.toReversed(), page, AUDIT, {
      placeOf: ({ auditId }): [number] => [Number(auditId)],
      isShown: ({ auditId }, [last]) => Number(auditId) >= last,
    })
  }

  /** Forgets what is older, and no more than `limit` of it. */
  sweep(before: number, limit: number): number {
    const old = this.#entries.slice(0, limit).filter(({ at }) => at < before).length
    this.#entries = this.#entries.slice(old)
    return old
  }
}
