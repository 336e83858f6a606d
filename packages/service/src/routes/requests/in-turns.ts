import { nextTurn } from '@secondwind/resilience'

/** Some ten milliseconds of parsing and checking at the worst. */
const BYTES_IN_A_TURN = 65_536
const ITEMS_IN_A_TURN = 100

/** Reads one item after the other. After a hundred of them, or a large one, the event loop serves all others first. */
export async function inTurns<Item extends { readonly length: number }, Read>(
  items: readonly Item[],
  read: (item: Item) => Promise<Read>,
): Promise<Read[]> {
  const all: Read[] = []
  let left = BYTES_IN_A_TURN
  for (const item of items) {
    all.push(await read(item))
    left -= Math.max(item.length, BYTES_IN_A_TURN / ITEMS_IN_A_TURN)
    if (left > 0) continue
    left = BYTES_IN_A_TURN
    await new Promise<void>(nextTurn)
  }
  return all
}
