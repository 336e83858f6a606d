import { ResilienceError } from '@secondwind/resilience'
import { check } from '@secondwind/resilience/rules'
import { refuse } from './check/fields.ts'
import type { Page, PageAsk } from './wire/page.ts'

/** A list of the service: page by page, or item by item, which reads pages as they are needed. */
export interface Listing<Item> extends AsyncIterable<Item> {
  /** One page: the first, or the one that a cursor names. */
  page(ask?: PageAsk): Promise<Page<Item>>
}

/** The most that a page may have: whoever wants every item wants few questions. */
const LARGEST_PAGE = 200

export function listing<Item>(readPage: (ask: PageAsk) => Promise<Page<Item>>): Listing<Item> {
  return {
    async page(ask = {}) {
      refuse('the page cannot be read', check.checkFields(ask, PAGE_FIELDS, PAGE_WORDS))
      return readPage(ask)
    },
    async *[Symbol.asyncIterator]() {
      let cursor: string | undefined
      let pages = 0
      // The one of every page whose number is a power of two: whatever circle the pages lead in, one of these comes again.
      let landmark: string | undefined
      do {
        const page: Page<Item> = await readPage({ limit: LARGEST_PAGE, ...(cursor !== undefined && { cursor }) })
        yield* page.items
        cursor = page.nextCursor
        if (cursor !== undefined && cursor === landmark)
          throw new ResilienceError('unexpected-answer', 'the list leads from a page back to the same page, for ever')
        if (isPowerOfTwo(++pages)) landmark = cursor
      } while (cursor !== undefined)
    },
  }
}

function isPowerOfTwo(count: number): boolean {
  return Number.isInteger(Math.log2(count))
}

const PAGE_FIELDS: { readonly [field in keyof PageAsk]-?: check.FieldCheck } = {
  cursor: check.text(4_096),
  limit: check.wholeNumber(1, LARGEST_PAGE),
}

const PAGE_WORDS: check.WrongWords = { after: 'cursor', nextCursor: 'cursor', pageSize: 'limit' }
