import type { OperatorRecord, OperatorStore, RecordKind } from './task-store.ts'

const PAGE = 200

/** All records of a kind: they are few, for each kind has a limit. */
export async function everyRecord(
  store: Pick<OperatorStore, 'records'>,
  kind: RecordKind,
): Promise<readonly OperatorRecord[]> {
  const records: OperatorRecord[] = []
  let cursor: string | undefined
  do {
    const page = await store.records({ kind, limit: PAGE, ...(cursor !== undefined && { cursor }) })
    records.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return records
}
