/** Visits each entry in its order, so many at once; the next begins as soon as one has ended. */
export async function atMost<Entry>(
  concurrency: number,
  entries: readonly Entry[],
  visit: (entry: Entry, place: number) => Promise<void>,
): Promise<void> {
  const waiting = entries.entries()
  const visitNext = async (): Promise<void> => {
    for (const [place, entry] of waiting) await visit(entry, place)
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, entries.length) }, visitNext))
}
