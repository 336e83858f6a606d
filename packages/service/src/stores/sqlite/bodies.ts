/** Large bodies: what they are, where they lie, until when they are needed, and how many bytes each tenant has. */
import type { BodyName, BodyRecord, NewBody, PutBody, SweepBodies } from '../store.ts'
import { named } from './connection.ts'
import type { Writer } from './writer.ts'

export interface BodiesAsk {
  readonly names: readonly BodyName[]
  readonly neededUntil?: number
}

export interface BodyVerbs {
  putBody(ask: NewBody): PutBody
  bodies(ask: BodiesAsk): BodyRecord[]
  sweepBodies(ask: SweepBodies): string[]
}

const BODY = 'tenant, body_ref, size_bytes, content_type, location, created_at, needed_until'

export function bodyVerbs(writer: Writer): BodyVerbs {
  const { connection } = writer
  const find = connection.objects<BodyRecord>(`select ${named(BODY)} from body where tenant = ? and body_ref = ?`)
  const write = connection.write(`insert or replace into body (${BODY}) values (?, ?, ?, ?, ?, ?, ?)`)
  const prolong = connection.write(
    'update body set needed_until = ?1 where tenant = ?2 and body_ref = ?3 and needed_until < ?1',
  )
  const unneeded = connection.objects<BodyRecord>(
    `select ${named(BODY)} from body where needed_until < ? order by needed_until limit ?`,
  )
  const remove = connection.write('delete from body where tenant = ? and body_ref = ?')
  const readTotal = connection.row<[number]>('select bytes from body_total where tenant = ?')
  const count = connection.write(
    'insert into body_total (tenant, bytes) values (?, ?) on conflict do update set bytes = bytes + excluded.bytes',
  )

  return {
    putBody({ mostBytes, ...body }) {
      const { tenant, bodyRef, sizeBytes, contentType, location } = body
      const [present] = find(tenant, bodyRef)
      if (present === undefined && (readTotal(tenant)?.[0] ?? 0) + sizeBytes > mostBytes) return { kind: 'full' }
      const createdAt = present?.createdAt ?? writer.now
      const neededUntil = Math.max(body.neededUntil, present?.neededUntil ?? 0)
      write(tenant, bodyRef, sizeBytes, contentType, location, createdAt, neededUntil)
      if (present === undefined) count(tenant, sizeBytes)
      const record = { ...body, createdAt, neededUntil }
      if (present === undefined) return { kind: 'created', record }
      const leftLocation = present.location
      return { kind: 'existing', record, ...(leftLocation !== location && { leftLocation }) }
    },

    bodies({ names, neededUntil }) {
      return names.flatMap(({ tenant, bodyRef }) => {
        if (neededUntil !== undefined) prolong(neededUntil, tenant, bodyRef)
        return find(tenant, bodyRef)
      })
    },

    sweepBodies: ({ neededBefore, limit }) =>
      unneeded(neededBefore, limit).map(({ tenant, bodyRef, sizeBytes, location }) => {
        remove(tenant, bodyRef)
        count(tenant, -sizeBytes)
        return location
      }),
  }
}
