import type { Listing, Page as ListPage } from '@secondwind/client'
import type { Problem } from '@secondwind/resilience'
import type { Answer, GivenOptions, Option } from '../command.ts'
import { optional, optionProblems, readOptions, text, wholeNumber, withDefault } from '../input/read-options.ts'
import { typedWith } from '../input/typed.ts'
import type { Page } from '../terminal/page.ts'
import { showTable, type Table } from '../terminal/table.ts'

const USUAL_LIMIT = 50
const LARGEST_LIMIT = 10_000

/** What every list takes. */
export const LIST_OPTIONS: readonly Option[] = [
  { flag: '--limit <number>', say: `how many at most (${USUAL_LIMIT})` },
  { flag: '--cursor <cursor>', say: 'go on where a list ended' },
  { flag: '--ids', say: 'only what names each of them, one a line' },
  { flag: '--ndjson', say: 'one JSON document a line' },
  { flag: '--csv', say: 'the table as comma-separated values' },
]

const LIST_READERS = {
  limit: withDefault(USUAL_LIMIT, wholeNumber(1, LARGEST_LIMIT)),
  cursor: optional(text()),
}

/** What is wrong with them: a list that has filters tells it beside what is wrong with those. */
export function listProblems(options: GivenOptions): readonly Problem[] {
  return optionProblems(options, LIST_READERS)
}

interface Listed<Item> {
  readonly listing: Listing<Item>
  readonly idOf: (item: Item) => string
  readonly tableOf: (items: readonly Item[]) => Table | Promise<Table>
  /** What people read, where a table would leave out what they ask; programs get the table. */
  readonly showOf?: (items: readonly Item[]) => Promise<Answer['show']>
  /** What there is none of, in the plural. */
  readonly noun: string
}

type More = Pick<Answer, 'verdict' | 'next'>

/** As many as were asked for, in as few pages as that takes, and how to read on. */
export async function answerList<Item>(
  { words, options }: { readonly words: readonly string[]; readonly options: GivenOptions },
  { listing, idOf, tableOf, showOf, noun }: Listed<Item>,
  more: (items: readonly Item[]) => More | Promise<More> = () => ({}),
): Promise<Answer> {
  const { limit, cursor } = readOptions(options, LIST_READERS)
  const { items, nextCursor } = await readItems(listing, limit, cursor)
  const table = await tableOf(items)
  const show = (await showOf?.(items)) ?? ((page: Page) => showTable(table, page))
  const { verdict, next = [] } = await more(items)
  return {
    data: { items, ...(nextCursor !== undefined && { nextCursor }) },
    items,
    ids: [...new Set(items.map(idOf))],
    table,
    show: page => (items.length === 0 ? `No ${noun}.` : show(page)),
    ...(verdict !== undefined && { verdict }),
    next: [...next, ...(nextCursor === undefined ? [] : [typedWith(words, '--cursor', nextCursor)])],
  }
}

const LARGEST_PAGE = 200

/** A filter that nothing matches is not followed to the end of everything at once. */
const MOST_PAGES = 200

export async function readItems<Item>(listing: Listing<Item>, limit: number, from?: string): Promise<ListPage<Item>> {
  const items: Item[] = []
  let cursor = from
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const ask = { limit: Math.min(LARGEST_PAGE, limit - items.length), ...(cursor !== undefined && { cursor }) }
    const page = await listing.page(ask)
    items.push(...page.items)
    cursor = page.nextCursor
    if (cursor === undefined || items.length >= limit) break
  }
  return { items, ...(cursor !== undefined && { nextCursor: cursor }) }
}
