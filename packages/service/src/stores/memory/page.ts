import type { Cursor } from '../cursor.ts'
import type { Page, PageAsk } from '../task-store.ts'
import type { Line, Place, Standing } from './line.ts'

/** A page of a line, from its first on. */
export function pageOf<Item, Shown>(
  line: Line<Item>,
  { cursor, limit }: PageAsk,
  cursors: Cursor<[number, number]>,
  show: (standing: Standing<Item>) => Shown,
): Page<Shown> {
  const found = line.after(cursor === undefined ? undefined : placeIn(cursors.read(cursor)), limit + 1)
  const last = found[limit - 1]
  return {
    items: found.slice(0, limit).map(show),
    ...(found.length > limit && last !== undefined && { nextCursor: cursors.write([last.at, last.number]) }),
  }
}

export function placeIn([at, number]: readonly [number, number]): Place {
  return { at, number }
}

/** A page of things in order, each of which knows its place; earlier pages have shown some. */
export function pageFrom<Item, At>(
  items: readonly Item[],
  { cursor, limit }: PageAsk,
  cursors: Cursor<At>,
  { placeOf, isShown }: { readonly placeOf: (item: Item) => At; readonly isShown: (item: Item, last: At) => boolean },
): Page<Item> {
  const from = cursor === undefined ? undefined : cursors.read(cursor)
  const left = from === undefined ? items : items.filter(item => !isShown(item, from))
  const last = left[limit - 1]
  return {
    items: left.slice(0, limit),
    ...(left.length > limit && last !== undefined && { nextCursor: cursors.write(placeOf(last)) }),
  }
}
