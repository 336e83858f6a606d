import type { OperatorRecord, RecordKind, RecordName, WriteRecord } from '../../task-store.ts'
import type { Connection } from '../file/connection.ts'
import { recordOf, RECORD_COLUMNS, type RecordRow } from '../rows/record-rows.ts'

/** What operators set. */
export interface Records {
  /** Changes with every write that whoever beats must hear of. */
  version: number
  find(name: RecordName): OperatorRecord | undefined
  count(kind: RecordKind, tenant: string): number
  /** Another of its kind and tenant that has the name of its document. */
  namesake(ask: WriteRecord): OperatorRecord | undefined
  write(record: OperatorRecord): void
  remove(name: RecordName): void
}

export function createRecords(connection: Connection): Records {
  const find = connection.row<RecordRow>(`select ${RECORD_COLUMNS} from record where kind = ? and id = ?`)
  const count = connection.row<[number]>('select count(*) from record where kind = ? and tenant = ?')
  const named = connection.row<RecordRow>(
    `select ${RECORD_COLUMNS} from record
    where kind = ? and tenant = ? and id <> ? and document ->> '$.name' = ? order by id limit 1`,
  )
  const write = connection.write(`insert or replace into record (${RECORD_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?)`)
  const remove = connection.write('delete from record where kind = ? and id = ?')
  return {
    version: 0,
    find({ kind, id }) {
      const row = find(kind, id)
      return row && recordOf(row)
    },
    count: (kind, tenant) => count(kind, tenant)![0],
    namesake({ kind, tenant, id, document }) {
      const name = document?.['name']
      const row = typeof name === 'string' ? named(kind, tenant, id, name) : undefined
      return row && recordOf(row)
    },
    write({ kind, id, tenant, version, document, createdAt, changedAt }) {
      write(kind, id, tenant, version, JSON.stringify(document), createdAt, changedAt)
    },
    remove: ({ kind, id }) => remove(kind, id),
  }
}
