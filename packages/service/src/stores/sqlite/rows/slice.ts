/** A page's ask on its way to a thread, its cursor read. */
export type From<Ask, Place> = Omit<Ask, 'cursor'> & { readonly from?: Place }

/** A page on its way between threads: `next` is where the one behind it begins, null at the end. */
export interface Slice<Item, Place> {
  readonly items: readonly Item[]
  readonly next: Place | null
}

/** Whoever reads one more than asked for knows whether there is another page. */
export function cut<Item, Place>(
  found: readonly Item[],
  limit: number,
  placeOf: (last: Item) => Place,
): Slice<Item, Place> {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return { items, next: found.length > limit && last !== undefined ? placeOf(last) : null }
}

/** The same slice by what was read for its items, where not for all of them. */
export function shortened<Item, Read, Place>(
  { items, next }: Slice<Item, Place>,
  read: readonly Read[],
  placeOf: (last: Item) => Place,
): Slice<Read, Place> {
  return { items: read, next: read.length < items.length ? placeOf(items[read.length - 1]!) : next }
}
