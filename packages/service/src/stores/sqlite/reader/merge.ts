interface Merging<Source, Item> {
  /** The first of a source, or the one behind another. */
  readonly nextOf: (source: Source, last?: Item) => Item | undefined
  readonly isBefore: (one: Item, other: Item) => boolean
  readonly most: number
}

/** The first of several lists that are each in order: one step for each list, and one for each item that is found. */
export function merge<Source, Item>(
  sources: readonly Source[],
  { nextOf, isBefore, most }: Merging<Source, Item>,
): Item[] {
  const heads = new Map<Source, Item>()
  const read = (source: Source, last?: Item): void => {
    const next = nextOf(source, last)
    if (next === undefined) heads.delete(source)
    else heads.set(source, next)
  }
  for (const source of sources) read(source)
  const found: Item[] = []
  while (found.length < most && heads.size > 0) {
    let best: readonly [Source, Item] | undefined
    for (const head of heads) if (best === undefined || isBefore(head[1], best[1])) best = head
    const [source, first] = best!
    found.push(first)
    read(source, first)
  }
  return found
}
