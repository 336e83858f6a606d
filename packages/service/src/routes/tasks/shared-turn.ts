import { nextTurn } from '@secondwind/resilience'

/**
 * Lets requests that arrived in the same turn of the event loop go on together, when all of them have been read: one after
 * the other through the same lines, each finds in the processor's caches what the one before it used. Under load this is
 * worth as much as all that is done with them.
 */
export function createSharedTurn(): () => Promise<void> {
  let turn: Promise<void> | undefined
  const begin = (): Promise<void> =>
    new Promise(resolve =>
      nextTurn(() => {
        turn = undefined
        resolve()
      }),
    )
  return () => (turn ??= begin())
}
