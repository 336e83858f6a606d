import type { Answer, Page, PageAsk } from '../stores/store.ts'
import type { StoreCalls } from './store-calls.ts'

/** A store of this process needs a millisecond for it, in which nothing else goes on. */
const PAGE = 200

/** A million rows: more than the partitions of an instance will ever have. */
const MOST_PAGES = 5_000

/** The items of all pages; undefined when one of them got no answer. */
export async function allPages<Item>(
  calls: StoreCalls,
  ask: (page: PageAsk) => Promise<Answer & Page<Item>>,
): Promise<readonly Item[] | undefined> {
  const items: Item[] = []
  let cursor: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const from = { limit: PAGE, ...(cursor !== undefined && { cursor }) }
    const answer = await calls.ask(() => ask(from))
    if (answer === undefined) return undefined
    for (const item of answer.items) items.push(item)
    cursor = answer.nextCursor
    if (cursor === undefined) break
  }
  return items
}
