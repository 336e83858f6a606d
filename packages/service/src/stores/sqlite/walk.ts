/**
 * Places of tasks in the order of a list: a place is an instant and the task's number, and a list walks from place to place. Of
 * several lanes or queues the walks are merged.
 */
import { nextTurn } from '@secondwind/resilience'

export type Place = readonly [at: number, seq: number]

/** The next places behind one, in order; fewer than asked at the end. */
export type Walk = (behind: Place, count: number) => readonly Place[]

export type Direction = 'ascending' | 'descending'

/** Each walk reads a few places ahead. */
const AHEAD = 20

export function merged(walks: readonly Walk[], direction: Direction): Walk {
  const [only] = walks
  if (walks.length === 1 && only !== undefined) return only
  return (behind, count) => {
    const heads = walks.map(walk => ({ walk, places: [...walk(behind, AHEAD)] }))
    const found: Place[] = []
    while (found.length < count) {
      let best: (typeof heads)[number] | undefined
      for (const head of heads)
        if (head.places[0] && (!best?.places[0] || isBefore(head.places[0], best.places[0], direction))) best = head
      const place = best?.places.shift()
      if (best === undefined || place === undefined) break
      found.push(place)
      if (best.places.length === 0) best.places = [...best.walk(place, AHEAD)]
    }
    return found
  }
}

/** A walk over places that are at hand. */
export function walkOf(places: readonly Place[], direction: Direction): Walk {
  const ordered = places.toSorted((one, other) => (isBefore(one, other, direction) ? -1 : 1))
  return (behind, count) => {
    const from = ordered.findIndex(place => isBefore(behind, place, direction))
    return from < 0 ? [] : ordered.slice(from, from + count)
  }
}

export function isBefore([at, seq]: Place, [otherAt, otherSeq]: Place, direction: Direction): boolean {
  const difference = at - otherAt || seq - otherSeq
  return direction === 'ascending' ? difference < 0 : difference > 0
}

/** Before all places. */
export function startOf(direction: Direction): Place {
  return direction === 'ascending' ? [-1, -1] : [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]
}

/** Rows that are looked at in one turn: about a millisecond. */
export const IN_ONE_TURN = 200

/**
 * Lists read in turns: one of them reads a few rows in each turn of the event loop, then the next one. However many lists there
 * are, no turn is longer than that.
 */
export type Turns = () => Promise<void>

export function createTurns(): Turns {
  const waiting: (() => void)[] = []
  let isTurnAwaited = false
  const awaitTurn = (): void => {
    if (isTurnAwaited || waiting.length === 0) return
    isTurnAwaited = true
    nextTurn(() => {
      isTurnAwaited = false
      waiting.shift()?.()
      awaitTurn()
    })
  }
  return () =>
    new Promise(resolve => {
      waiting.push(resolve)
      awaitTurn()
    })
}
