import { NO_COUNTS } from '../../../task/replay/counts.ts'
import { hasStatus, listedRecord } from '../../replays.ts'
import type { AuditEntry, AuditPage, ListedReplay, OperatorRecord, RecordsPage, ReplaysPage } from '../../task-store.ts'
import type { Connection } from '../file/connection.ts'
import { AUDIT_COLUMNS, auditOf, RECORD_COLUMNS, recordOf, type AuditRow, type RecordRow } from '../rows/record-rows.ts'
import { cut, type From, type Slice } from '../rows/slice.ts'
import { readCounts } from '../tables/replays.ts'
import { BEHIND_ALL } from './pages.ts'

/** Lists of what operators set and did. */
export interface OperatorPages {
  records(ask: From<RecordsPage, [id: string]>): Slice<OperatorRecord, [string]>
  replays(ask: From<ReplaysPage, [replayId: string]>): Slice<ListedReplay, [string]>
  auditTrail(ask: From<AuditPage, [auditId: number]>): Slice<AuditEntry, [number]>
}

export function createOperatorPages(connection: Connection): OperatorPages {
  return { records: recordPages(connection), replays: replayPages(connection), auditTrail: auditPages(connection) }
}

function recordPages(connection: Connection): OperatorPages['records'] {
  const ofAll = connection.rows<RecordRow>(
    `select ${RECORD_COLUMNS} from record where kind = ? and id > ? order by id limit ?`,
  )
  const ofTenant = connection.rows<RecordRow>(
    `select ${RECORD_COLUMNS} from record where kind = ? and tenant = ? and id > ? order by id limit ?`,
  )
  return ({ kind, tenant, from = [''], limit }) => {
    const found = tenant === undefined ? ofAll(kind, ...from, limit + 1) : ofTenant(kind, tenant, ...from, limit + 1)
    const { items, next } = cut(found, limit, ([, id]) => [id] as [string])
    return { items: items.map(recordOf), next }
  }
}

/** A filter that fits nothing must not walk through everything in one call. */
const MOST_LOOKED_AT = 1_000

function replayPages(connection: Connection): OperatorPages['replays'] {
  const read = connection.rows<RecordRow>(
    `select ${RECORD_COLUMNS} from record where kind = 'replay' and tenant = ? and id < ? order by id desc limit ?`,
  )
  const countsOf = readCounts(connection)
  return ({ tenant, status, from: behind = [BEHIND_ALL], limit }) => {
    const most = status === undefined ? limit + 1 : MOST_LOOKED_AT
    const looked = read(tenant, ...behind, most).map(recordOf)
    const found = looked.filter(record => hasStatus(record, status))
    const items = found.slice(0, limit)
    const last = found.length > limit ? items.at(-1) : looked[MOST_LOOKED_AT - 1]
    return {
      items: items.map(record => ({ record: listedRecord(record), counts: countsOf(record.id) ?? NO_COUNTS })),
      next: last === undefined ? null : [last.id],
    }
  }
}

function auditPages(connection: Connection): OperatorPages['auditTrail'] {
  const ofAll = connection.rows<AuditRow>(
    `select ${AUDIT_COLUMNS} from audit where audit_id < ? order by audit_id desc limit ?`,
  )
  const ofTenant = connection.rows<AuditRow>(
    `select ${AUDIT_COLUMNS} from audit where tenant = ? and audit_id < ? order by audit_id desc limit ?`,
  )
  return ({ tenant, from: behind = [Number.MAX_SAFE_INTEGER], limit, ...wanted }) => {
    const looked = tenant === undefined ? ofAll(...behind, MOST_LOOKED_AT) : ofTenant(tenant, ...behind, MOST_LOOKED_AT)
    const found = looked.filter(row => isWanted(row, wanted))
    const items = found.slice(0, limit)
    const hasMore = found.length > limit || looked.length === MOST_LOOKED_AT
    const last = found.length > limit ? items.at(-1) : looked.at(-1)
    return { items: items.map(auditOf), next: hasMore && last !== undefined ? [last[0]] : null }
  }
}

function isWanted([, at, , ...row]: AuditRow, { actor, action, subject, since, until }: Wanted): boolean {
  const names = [actor, action, subject]
  return at >= (since ?? -Infinity) && at < (until ?? Infinity) && names.every((name, n) => (name ?? row[n]) === row[n])
}

type Wanted = Pick<AuditPage, 'actor' | 'action' | 'subject' | 'since' | 'until'>
