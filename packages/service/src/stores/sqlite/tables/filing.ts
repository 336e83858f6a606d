/** What comes in no order stays loose, and is put into its table a lot at a time: sorted, many of a lot share a page. */
export interface Lots<Item> {
  /** Whether a lot of it lies loose. */
  isFull(): boolean
  /** Whether there is a lot too many of it, for the process was started anew in the middle of one, perhaps again and again. */
  isOverdue(): boolean
  /** The oldest lot, in the order of its table. */
  inOrder(): Iterator<Item>
  fileOne(item: Item): void
  /** All of the lot is in its table. */
  end(): void
}

/** A few with every commit: nobody waits for thousands. */
export interface Filing {
  /** Told once in a transaction: how many came with it. */
  file(added: number): void
  /** The transaction has failed: what it filed is not in the table. */
  forget(): void
}

/** Faster than they come, so that it comes to an end. */
const FILED_FOR_EACH_ADDED = 2

export function createFiling<Item>(lots: Lots<Item>): Filing {
  let order: Iterator<Item> | undefined
  let hasFailed = false

  /** The next of its lot; false when there is none, or when that was the end of one. */
  const fileNext = (): boolean => {
    if (order === undefined && !lots.isFull()) return false
    order ??= lots.inOrder()
    const next = order.next()
    if (next.done !== true) lots.fileOne(next.value)
    else {
      lots.end()
      order = undefined
    }
    return order !== undefined
  }
  return {
    file(added) {
      // Calls that fail are tried again in halves: that is no time to catch up.
      const isHurried = lots.isOverdue() && !hasFailed
      hasFailed = false
      if (isHurried) while (fileNext());
      for (let left = FILED_FOR_EACH_ADDED * added; left > 0; left--) if (!fileNext() && !lots.isFull()) return
    },
    forget() {
      order = undefined
      hasFailed = true
    },
  }
}
