import { cursorOf } from '../../stores/cursor.ts'
import type { ListedTask, Page, TasksPage } from '../../stores/store.ts'
import type { ApiContext } from '../context.ts'

const CURSOR = cursorOf('tasks by key', 'string')

/** In one page. Each costs a step. */
const MOST_TENANTS = 50

/** The tasks of every tenant that have one key, in order of tenant. A store looks a key up within a tenant. */
export async function tasksByKey(
  { filter, cursor, limit }: Omit<TasksPage, 'order'>,
  { store, keys }: Pick<ApiContext, 'store' | 'keys'>,
): Promise<Page<ListedTask>> {
  const [last = ''] = cursor === undefined ? [] : CURSOR.read(cursor)
  const left = keys
    .tenants()
    .filter(tenant => tenant > last)
    .toSorted()
  const looked = left.slice(0, MOST_TENANTS)
  const pages = await Promise.all(
    looked.map(tenant => store.list({ filter: { ...filter, tenant }, order: 'newest-first', limit: 1 })),
  )
  const found = pages.flatMap(({ items }) => items)
  const items = found.slice(0, limit)
  const end = (found.length > limit ? items.at(-1)?.tenant : looked.at(-1)) ?? ''
  return { items, ...((found.length > limit || left.length > looked.length) && { nextCursor: CURSOR.write([end]) }) }
}
