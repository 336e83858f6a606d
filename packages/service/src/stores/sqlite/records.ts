/** Records of operators and tenants, and the audit: written together, read apart. */
import { randomInt } from 'node:crypto'
import { TASK_ID_BYTES, taskIdOf } from '../../task/lane.ts'
import { cursorOf } from '../cursor.ts'
import type {
  AuditEntry,
  AuditLine,
  AuditPage,
  JsonObject,
  Page,
  RecordName,
  RecordsPage,
  RecordWrite,
  StoredRecord,
  Written,
} from '../store.ts'
import { named, type Connection } from './connection.ts'
import type { Writer } from './writer.ts'

type RecordRow = Omit<StoredRecord, 'document'> & { readonly document: string }

const RECORD = 'kind, id, tenant, version, document, created_at, changed_at'

function recordOf(row: RecordRow): StoredRecord {
  return { ...row, document: JSON.parse(row.document) as JsonObject }
}

// ---------------------------------------------------------------- writing

export interface WriteAsk {
  readonly writes: readonly RecordWrite[]
  readonly audit?: AuditLine
}

export function writeVerb(writer: Writer, audit: AuditLog): (ask: WriteAsk) => Written {
  const { connection } = writer
  const find = connection.objects<RecordRow>(`select ${named(RECORD)} from record where kind = ? and id = ?`)
  const put = connection.write(`insert or replace into record (${RECORD}) values (?, ?, ?, ?, ?, ?, ?)`)
  const remove = connection.write('delete from record where kind = ? and id = ?')
  const removeCounts = connection.write('delete from replay_count where replay_id = ?')

  const writeOne = ({ kind, id, tenant, document }: RecordWrite): StoredRecord | undefined => {
    writer.noteRecord(kind)
    if (document === null) {
      remove(kind, id)
      if (kind === 'replay') removeCounts(id)
      return undefined
    }
    const [before] = find(kind, id)
    const version = (before?.version ?? 0) + 1
    const [createdAt, changedAt] = [before?.createdAt ?? writer.now, writer.now]
    const text = JSON.stringify(document)
    put(kind, id, tenant, version, text, createdAt, changedAt)
    return recordOf({ kind, id, tenant, version, document: text, createdAt, changedAt })
  }

  return ({ writes, audit: line }) => {
    for (const { kind, id, ifVersion } of writes) {
      const [present] = find(kind, id)
      if (ifVersion === undefined || ifVersion === (present?.version ?? 0)) continue
      return { kind: 'conflict', name: { kind, id }, ...(present && { record: recordOf(present) }) }
    }
    if (line !== undefined) audit.add(line)
    return { kind: 'written', records: writes.map(writeOne).filter(record => record !== undefined) }
  }
}

export interface AuditLog {
  add(line: AuditLine): void
  /** Forgets lines that are older. */
  sweep(before: number, limit: number): number
}

export function createAuditLog(writer: Writer): AuditLog {
  const { connection } = writer
  const insert = connection.write(
    'insert into audit (audit_id, at, tenant, actor, action, subject, reason, details) values (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const removeOld = connection.change(
    'delete from audit where audit_id in (select audit_id from audit where audit_id < ? order by audit_id limit ?)',
  )
  const [last] = connection.row<[string | null]>('select max(audit_id) from audit')() ?? []
  let newest = last ?? firstIdAt(0)
  return {
    add({ tenant, actor, action, subject, reason, details }) {
      newest = idBehind(newest, writer.now)
      const text = details === undefined ? null : JSON.stringify(details)
      insert(newest, writer.now, tenant, actor, action, subject, reason ?? null, text)
    },
    sweep: (before, limit) => removeOld(firstIdAt(before), limit),
  }
}

/**
 * The next id, in the order of the lines. Within a millisecond ids grow by chance: a tenant must not learn from its own ids how
 * many lines others wrote. There is room for 500 lines in one, however large their steps.
 */
function idBehind(newest: string, now: number): string {
  const isSameInstant = newest >= firstIdAt(now)
  const chance = isSameInstant ? chanceOf(newest) + 1 + randomInt(2 ** randomInt(31)) : randomInt(2 ** 39)
  const bytes = Buffer.alloc(TASK_ID_BYTES)
  bytes.writeUIntBE(chance, TASK_ID_BYTES - CHANCE_BYTES, CHANCE_BYTES)
  return taskIdOf(now, 0, bytes)
}

const CHANCE_BYTES = 5

/** The last bytes of an id but one. */
function chanceOf(id: string): number {
  return Number.parseInt(id.slice(-2 - 2 * CHANCE_BYTES, -2), 16)
}

/** No id of this instant or later is smaller. */
function firstIdAt(at: number): string {
  return taskIdOf(at, 0, new Uint8Array(TASK_ID_BYTES))
}

// ---------------------------------------------------------------- reading

export interface RecordReader {
  record(name: RecordName): StoredRecord | undefined
  records(ask: RecordsPage): Page<StoredRecord>
  audit(ask: AuditPage): Page<AuditEntry>
}

const RECORDS = cursorOf('records', 'string')
const AUDIT = cursorOf('audit', 'string')

/** Behind every text that is an id. */
const LAST = '\u{10ffff}'

/** A filter that fits nothing must not walk through everything in one call. */
const MOST_LOOKED_AT = 200

type AuditRow = Omit<AuditEntry, 'details'> & { readonly details?: string }

export function recordReader(connection: Connection): RecordReader {
  const find = connection.objects<RecordRow>(`select ${named(RECORD)} from record where kind = ? and id = ?`)
  const pages = (order: 'asc' | 'desc', where: string) =>
    connection.objects<RecordRow>(
      `select ${named(RECORD)} from record where kind = ? and id > ? and id < ? ${where} order by id ${order} limit ?`,
    )
  const ofAll = { asc: pages('asc', ''), desc: pages('desc', '') }
  const ofTenant = { asc: pages('asc', 'and tenant = ?'), desc: pages('desc', 'and tenant = ?') }
  const auditColumns = named('audit_id, at, tenant, actor, action, subject, reason, details')
  const auditOfAll = connection.objects<AuditRow>(
    `select ${auditColumns} from audit where audit_id < ? and audit_id >= ? order by audit_id desc limit ?`,
  )
  const auditOfTenant = connection.objects<AuditRow>(
    `select ${auditColumns} from audit where tenant = ? and audit_id < ? and audit_id >= ? order by audit_id desc limit ?`,
  )

  return {
    record({ kind, id }) {
      const [row] = find(kind, id)
      return row && recordOf(row)
    },

    records({ kind, tenant, prefix = '', order, cursor, limit }) {
      const [place] = cursor === undefined ? [] : RECORDS.read(cursor)
      const isNewestFirst = order === 'newest-first'
      // Both ends lie outside: an id is never empty, and the prefix alone is none. A place outside the prefix opens nothing.
      const [first, end] = [prefix, prefix + LAST]
      const behind = !isNewestFirst && place !== undefined && place > first ? place : first
      const before = isNewestFirst && place !== undefined && place < end ? place : end
      const way = isNewestFirst ? 'desc' : 'asc'
      const found =
        tenant === undefined
          ? ofAll[way](kind, behind, before, limit + 1)
          : ofTenant[way](kind, behind, before, tenant, limit + 1)
      const items = found.slice(0, limit).map(recordOf)
      const last = items.at(-1)
      return { items, ...(found.length > limit && last && { nextCursor: RECORDS.write([last.id]) }) }
    },

    audit({ tenant, since = 0, until, cursor, limit, ...wanted }) {
      const [place] = cursor === undefined ? [until === undefined ? LAST : firstIdAt(until)] : AUDIT.read(cursor)
      const from = firstIdAt(since)
      const looked =
        tenant === undefined
          ? auditOfAll(place, from, MOST_LOOKED_AT)
          : auditOfTenant(tenant, place, from, MOST_LOOKED_AT)
      const found = looked.filter(line =>
        (['actor', 'action', 'subject'] as const).every(name => (wanted[name] ?? line[name]) === line[name]),
      )
      const items = found.slice(0, limit).map(auditOf)
      const isMore = found.length > limit || looked.length === MOST_LOOKED_AT
      const lastId = found.length > limit ? items.at(-1)?.auditId : looked.at(-1)?.auditId
      return { items, ...(isMore && lastId !== undefined && { nextCursor: AUDIT.write([lastId]) }) }
    },
  }
}

function auditOf({ details, ...line }: AuditRow): AuditEntry {
  return { ...line, ...(details !== undefined && { details: JSON.parse(details) as JsonObject }) }
}
