import type { Clock } from '@secondwind/resilience'
import { cursorOf } from '../../stores/cursor.ts'
import type { BodyStore } from '../body-store.ts'
import { measured } from '../measured.ts'

interface Kept {
  readonly number: number
  readonly chunks: readonly Uint8Array[]
  readonly putAt: number
}

const CURSOR = cursorOf('bodies', 'number')

/** For the store in memory: both end with their process. */
export function openMemoryBodies({ clock }: { readonly clock: Pick<Clock, 'now'> }): BodyStore {
  const kept = new Map<string, Kept>()
  let last = 0
  return {
    kind: 'memory',
    async put(bytes, mostBytes) {
      const chunks: Uint8Array[] = []
      const known = await measured(bytes, mostBytes, chunk => chunks.push(Uint8Array.from(chunk)))
      const number = ++last
      const location = `body-${number}`
      kept.set(location, { number, chunks, putAt: clock.now() })
      return { location, ...known }
    },
    async read(location) {
      const body = kept.get(location)
      return body && inTurn(body.chunks)
    },
    async remove(location) {
      kept.delete(location)
    },
    async list({ putBefore, cursor, limit }) {
      const [behind] = cursor === undefined ? [0] : CURSOR.read(cursor)
      const old = [...kept].filter(([, { number, putAt }]) => number > behind && putAt < putBefore)
      const page = old.slice(0, limit)
      return {
        items: page.map(([location]) => location),
        ...(old.length > limit && { nextCursor: CURSOR.write([page.at(-1)![1].number]) }),
      }
    },
  }
}

async function* inTurn(chunks: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  yield* chunks
}
