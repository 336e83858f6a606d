import type { Cursor } from '../../cursor.ts'
import type { Page, PageAsk } from '../../store.ts'

type Place = readonly (string | number)[]

export interface Order<Item, At extends Place> {
  readonly cursors: Cursor<At>
  /** No two items have the same place. */
  readonly placeOf: (item: Item) => At
  /** From the last place to the first. */
  readonly isReversed?: boolean
}

/** Sorts the items, and answers those behind the cursor. */
export function pageOf<Item, At extends Place>(
  items: readonly Item[],
  { cursor, limit }: PageAsk,
  { cursors, placeOf, isReversed = false }: Order<Item, At>,
): Page<Item> {
  const compare = (one: At, other: At): number => (isReversed ? comparePlaces(other, one) : comparePlaces(one, other))
  const from = cursor === undefined ? undefined : cursors.read(cursor)
  const left = items
    .filter(item => from === undefined || compare(placeOf(item), from) > 0)
    .toSorted((one, other) => compare(placeOf(one), placeOf(other)))
  const shown = left.slice(0, limit)
  const last = shown.at(-1)
  const isMore = left.length > shown.length && last !== undefined
  return { items: shown, ...(isMore && { nextCursor: cursors.write(placeOf(last)) }) }
}

export function comparePlaces(one: Place, other: Place): number {
  for (const [at, part] of one.entries()) {
    const there = other[at] ?? part
    if (part !== there) return part < there ? -1 : 1
  }
  return 0
}
