import type { BodyName, BodyRecord, SweepBodies } from '../../task-store.ts'
import type { Connection } from '../file/connection.ts'

/** What is known of large bodies, and the bytes of each tenant's together. */
export interface Bodies {
  find(name: BodyName): BodyRecord | undefined
  add(body: BodyRecord): void
  /** The newest upload is the one that is kept. */
  move(body: BodyRecord, at: number): void
  bytesOf(tenant: string): number
  /** So many tasks more, or fewer, need it. */
  use(name: BodyName, tasks: number, at: number): void
  unused(ask: SweepBodies): BodyRecord[]
  remove(body: BodyRecord): void
  kept(locations: readonly string[]): string[]
}

type BodyRow = [
  tenant: string,
  bodyRef: string,
  sizeBytes: number,
  contentType: string,
  location: string,
  createdAt: number,
]

const COLUMNS = 'tenant, body_ref, size_bytes, content_type, location, created_at'

export function createBodies(connection: Connection): Bodies {
  const find = connection.row<BodyRow>(`select ${COLUMNS} from body where tenant = ? and body_ref = ?`)
  const insert = connection.write(`insert into body (${COLUMNS}, uses, used_at) values (?, ?, ?, ?, ?, ?, 0, ?6)`)
  const move = connection.write(
    'update body set location = ?, content_type = ?, used_at = ? where tenant = ? and body_ref = ?',
  )
  const use = connection.write('update body set uses = uses + ?, used_at = ? where tenant = ? and body_ref = ?')
  const unused = connection.rows<BodyRow>(
    `select ${COLUMNS} from body where uses = 0 and used_at < ? order by used_at limit ?`,
  )
  const remove = connection.write('delete from body where tenant = ? and body_ref = ?')
  const readTotal = connection.row<[number]>('select bytes from body_total where tenant = ?')
  const count = connection.write(
    'insert into body_total values (?, ?) on conflict do update set bytes = bytes + excluded.bytes',
  )
  const kept = connection.rows<[string]>('select location from body where location in (select value from json_each(?))')
  return {
    find({ tenant, bodyRef }) {
      const row = find(tenant, bodyRef)
      return row && bodyOf(row)
    },
    add({ tenant, bodyRef, sizeBytes, contentType, location, createdAt }) {
      insert(tenant, bodyRef, sizeBytes, contentType, location, createdAt)
      count(tenant, sizeBytes)
    },
    move: ({ tenant, bodyRef, location, contentType }, at) => move(location, contentType, at, tenant, bodyRef),
    bytesOf: tenant => readTotal(tenant)?.[0] ?? 0,
    use: ({ tenant, bodyRef }, tasks, at) => use(tasks, at, tenant, bodyRef),
    unused: ({ unusedBefore, limit }) => unused(unusedBefore, limit).map(bodyOf),
    remove({ tenant, bodyRef, sizeBytes }) {
      remove(tenant, bodyRef)
      count(tenant, -sizeBytes)
    },
    kept: locations => kept(JSON.stringify(locations)).map(([location]) => location),
  }
}

function bodyOf([tenant, bodyRef, sizeBytes, contentType, location, createdAt]: BodyRow): BodyRecord {
  return { tenant, bodyRef, sizeBytes, contentType, location, createdAt }
}
