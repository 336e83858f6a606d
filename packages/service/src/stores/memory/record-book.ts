import { cursorOf } from '../cursor.ts'
import {
  isReadAtBeats,
  type OperatorRecord,
  type Page,
  type RecordName,
  type RecordsPage,
  type WriteRecord,
  type WrittenRecord,
} from '../task-store.ts'
import type { AuditBook } from './audit-book.ts'
import { pageFrom } from './page.ts'

const RECORDS = cursorOf('records', 'string')

/** What operators set. */
export class RecordBook {
  /** Changes with every write that whoever beats must hear of. */
  version = 0
  readonly #byName = new Map<string, OperatorRecord>()
  readonly #audit: AuditBook

  constructor(audit: AuditBook) {
    this.#audit = audit
  }

  find(name: RecordName): OperatorRecord | undefined {
    return this.#byName.get(nameOf(name))
  }

  write(ask: WriteRecord, now: number): WrittenRecord {
    const { kind, id, tenant, document, ifVersion, most = Infinity, audit } = ask
    const present = this.find(ask)
    if ((present?.version ?? 0) !== ifVersion) return { kind: 'conflict', ...(present && { record: present }) }
    if (present === undefined && this.#of(ask).length >= most) return { kind: 'full' }
    const namesake = ask.isNameUnique && this.#namesake(ask)
    if (namesake) return { kind: 'taken', record: namesake }
    if (audit !== undefined) this.#audit.add(audit, now)
    if (isReadAtBeats(kind)) this.version++
    if (document === null) {
      this.#byName.delete(nameOf(ask))
      return { kind: 'removed' }
    }
    const createdAt = present?.createdAt ?? now
    const kept = JSON.parse(JSON.stringify(document)) as typeof document
    const record = { kind, id, tenant, version: ifVersion + 1, document: kept, createdAt, changedAt: now }
    this.#byName.set(nameOf(ask), record)
    return { kind: 'written', record }
  }

  list({ kind, tenant, ...page }: RecordsPage): Page<OperatorRecord> {
    const wanted = [...this.#byName.values()].filter(
      record => record.kind === kind && (tenant === undefined || record.tenant === tenant),
    )
    const byId = wanted.toSorted((one, other) => (one.id < other.id ? -1 : 1))
    return pageFrom(byId, page, RECORDS, {
      placeOf: ({ id }): [string] => [id],
      isShown: ({ id }, [last]) => id <= last,
    })
  }

  /** All of one kind and tenant. */
  #of({ kind, tenant }: WriteRecord): OperatorRecord[] {
    return [...this.#byName.values()].filter(one => one.kind === kind && one.tenant === tenant)
  }

  #namesake(ask: WriteRecord): OperatorRecord | undefined {
    const name = ask.document?.['name']
    return name === undefined
      ? undefined
      : this.#of(ask).find(one => one.id !== ask.id && one.document['name'] === name)
  }
}

/** No kind holds a space. */
function nameOf({ kind, id }: RecordName): string {
  return `${kind} ${id}`
}
