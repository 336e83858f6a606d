import { setTimeout as sleep } from 'node:timers/promises'

const PAUSE_MS = 5
/** Ten minutes: far beyond any lap. */
const MOST_QUESTIONS = 120_000

/** Asks until the answer is yes. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let questions = 0; questions < MOST_QUESTIONS; questions++) {
    if (await isSo()) return
    await sleep(PAUSE_MS)
  }
  throw new Error('the store did not come to rest')
}

export function* inChunks<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size)
}
