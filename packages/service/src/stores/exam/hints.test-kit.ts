import type { Hint, Store } from '../store.ts'

export interface HeardHints {
  readonly heard: Hint[]
  /**
   * Resolves when a hint for this queue has come that is not later than its due instant. A store may give more hints than
   * it must, and earlier ones.
   */
  readonly until: (wanted: Hint) => Promise<Hint>
  readonly leave: () => void
}

/** Hears every hint from now on. */
export function hintsOf(store: Store): HeardHints {
  const heard: Hint[] = []
  let look = (): void => {}
  const leave = store.onHint(hint => {
    heard.push(hint)
    look()
  })
  const until: HeardHints['until'] = wanted =>
    new Promise(resolve => {
      look = () => {
        const found = heard.find(hint => isFor(hint, wanted))
        if (found !== undefined) resolve(found)
      }
      look()
    })
  return { heard, until, leave }
}

function isFor({ partition, lane, queue, dueAt }: Hint, wanted: Hint): boolean {
  return partition === wanted.partition && lane === wanted.lane && queue === wanted.queue && dueAt <= wanted.dueAt
}
