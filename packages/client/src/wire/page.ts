/** Every list is read in pages: some items, and where the next ones begin; never a count of all. */
export interface Page<Item> {
  /** Perhaps fewer than asked for, perhaps none, though others follow. */
  readonly items: readonly Item[]
  /** Absent at the end. */
  readonly nextCursor?: string
}

export interface PageAsk {
  /** The `nextCursor` of the page before. */
  readonly cursor?: string
  /** Items of a page, at most 200; 50 unless told. */
  readonly limit?: number
}
