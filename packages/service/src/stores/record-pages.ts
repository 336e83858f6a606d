/** Records, read page by page. There are few of each kind, because each kind has a limit. */
import type { RecordKind, RecordsPage, RecordStore, StoredRecord } from './store.ts'

type Records = Pick<RecordStore, 'records'>
type Which = Pick<RecordsPage, 'kind' | 'tenant'>

const PAGE = 200

export async function* recordPages(store: Records, which: Which): AsyncGenerator<readonly StoredRecord[]> {
  let cursor: string | undefined
  do {
    const page = await store.records({ ...which, limit: PAGE, ...(cursor !== undefined && { cursor }) })
    yield page.items
    cursor = page.nextCursor
  } while (cursor !== undefined)
}

export async function everyRecord(store: Records, kind: RecordKind): Promise<readonly StoredRecord[]> {
  const records: StoredRecord[] = []
  for await (const page of recordPages(store, { kind })) records.push(...page)
  return records
}

/**
 * Whether one more record may be made. Callers that ask at the same moment get the same answer, so that a few more may be
 * made than `most`: a bound need not be exact.
 */
export async function isRoomFor(store: Records, which: Which & { readonly most: number }): Promise<boolean> {
  const { most, ...asked } = which
  let count = 0
  for await (const page of recordPages(store, asked)) {
    count += page.length
    if (count >= most) return false
  }
  return true
}
