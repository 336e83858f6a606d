/** What comes in no order stays loose, and is put into its table a lot at a time: sorted, many of a lot share a page. */
export interface Lots<Item> {
  /** Whether enough of it lies loose. */
  isFull(): boolean
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
  forget(): void
}

/** Faster than they come, so that it comes to an end. */
const FILED_FOR_EACH_ADDED = 2

export function createFiling<Item>(lots: Lots<Item>): Filing {
  let order: Iterator<Item> | undefined
  return {
    file(added) {
      for (let left = FILED_FOR_EACH_ADDED * added; left > 0; left--) {
        if (order === undefined && !lots.isFull()) return
        order ??= lots.inOrder()
        const next = order.next()
        if (next.done !== true) lots.fileOne(next.value)
        else {
          lots.end()
          order = undefined
        }
      }
    },
    forget() {
      order = undefined
    },
  }
}
