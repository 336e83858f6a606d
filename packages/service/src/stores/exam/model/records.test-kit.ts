import { cursorOf } from '../../cursor.ts'
import {
  isReadAtBeats,
  type AuditEntry,
  type AuditLine,
  type AuditPage,
  type BodyName,
  type BodyRecord,
  type NewBody,
  type Page,
  type PutBody,
  type RecordName,
  type RecordsPage,
  type RecordWrite,
  type StoredRecord,
  type SweepBodies,
  type Written,
} from '../../store.ts'
import { isWithin } from './history.test-kit.ts'
import { pageOf } from './page.test-kit.ts'
import { plain, type World } from './world.test-kit.ts'

export function write(
  world: World,
  writes: readonly RecordWrite[],
  audit: AuditLine | undefined,
  now: number,
): Written {
  for (const { kind, id, ifVersion } of writes) {
    const present = record(world, { kind, id })
    if (ifVersion === undefined || ifVersion === (present?.version ?? 0)) continue
    return { kind: 'conflict', name: { kind, id }, ...(present !== undefined && { record: present }) }
  }
  world.note(audit, now)
  return { kind: 'written', records: writes.flatMap(each => writeOne(world, each, now)) }
}

function writeOne(world: World, { kind, id, tenant, document }: RecordWrite, now: number): StoredRecord[] {
  const present = record(world, { kind, id })
  if (present !== undefined) world.records.splice(world.records.indexOf(present), 1)
  if (isReadAtBeats(kind)) world.recordsVersion++
  if (document === null) {
    if (kind === 'replay') world.replays.delete(id)
    return []
  }
  const [version, createdAt] = [(present?.version ?? 0) + 1, present?.createdAt ?? now]
  const written = { kind, id, tenant, version, document: plain(document), createdAt, changedAt: now }
  world.records.push(written)
  return [written]
}

export function record({ records }: World, { kind, id }: RecordName): StoredRecord | undefined {
  return records.find(record => record.kind === kind && record.id === id)
}

const RECORDS = cursorOf('records', 'string')

export function records(world: World, { kind, tenant, prefix = '', order, ...page }: RecordsPage): Page<StoredRecord> {
  const wanted = world.records.filter(
    record =>
      record.kind === kind && (tenant === undefined || record.tenant === tenant) && record.id.startsWith(prefix),
  )
  return pageOf(wanted, page, {
    cursors: RECORDS,
    placeOf: ({ id }): [string] => [id],
    isReversed: order === 'newest-first',
  })
}

const AUDIT = cursorOf('audit', 'string')

export function audit(
  { audit }: World,
  { tenant, actor, action, subject, since, until, ...page }: AuditPage,
): Page<AuditEntry> {
  const wanted = audit.filter(
    line =>
      (tenant === undefined || line.tenant === tenant) &&
      (actor === undefined || line.actor === actor) &&
      (action === undefined || line.action === action) &&
      (subject === undefined || line.subject === subject) &&
      isWithin(line.at, since, until),
  )
  return pageOf(wanted, page, {
    cursors: AUDIT,
    placeOf: ({ auditId }): [string] => [auditId],
    isReversed: true,
  })
}

export function putBody({ bodies }: World, { mostBytes, ...body }: NewBody, createdAt: number): PutBody {
  const at = bodies.findIndex(isNamed(body))
  const present = bodies[at]
  if (present === undefined) {
    const kept = bodies
      .filter(({ tenant }) => tenant === body.tenant)
      .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    if (kept + body.sizeBytes > mostBytes) return { kind: 'full' }
    const record = { ...body, createdAt }
    bodies.push(record)
    return { kind: 'created', record }
  }
  const { location, contentType } = body
  const neededUntil = Math.max(present.neededUntil, body.neededUntil)
  const record = { ...present, location, contentType, neededUntil }
  bodies[at] = record
  return { kind: 'existing', record, ...(present.location !== location && { leftLocation: present.location }) }
}

export function bodies({ bodies }: World, names: readonly BodyName[], neededUntil = -Infinity): BodyRecord[] {
  return names.flatMap(name => {
    const at = bodies.findIndex(isNamed(name))
    const present = bodies[at]
    if (present === undefined) return []
    const record = { ...present, neededUntil: Math.max(present.neededUntil, neededUntil) }
    bodies[at] = record
    return [record]
  })
}

export function sweepBodies({ bodies }: World, { neededBefore, limit }: SweepBodies): string[] {
  const over = bodies
    .filter(({ neededUntil }) => neededUntil < neededBefore)
    .toSorted((one, other) => one.neededUntil - other.neededUntil)
    .slice(0, limit)
  for (const body of over) bodies.splice(bodies.indexOf(body), 1)
  return over.map(({ location }) => location)
}

function isNamed({ tenant, bodyRef }: BodyName): (body: BodyName) => boolean {
  return body => body.tenant === tenant && body.bodyRef === bodyRef
}
