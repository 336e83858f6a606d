interface Lasting {
  readonly until?: number
}

/** So many are good at once, however often a caller rotates. */
const MOST = 5

/** The new one is used first. The previous ones stay good until then, or until they end if that is earlier. */
export function overlapped<Item extends Lasting>(
  newest: Item,
  before: readonly Item[],
  until: number,
): readonly Item[] {
  const ending = before.map(item => ({ ...item, until: Math.min(until, item.until ?? Infinity) }))
  return [newest, ...ending].slice(0, MOST)
}
