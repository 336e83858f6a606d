import type { Clock } from '@secondwind/resilience'
import type { BodyStore } from '../body-store.ts'
import { measured } from '../intact.ts'
import { locationOf } from '../location.ts'

interface Kept {
  readonly chunks: readonly Uint8Array[]
  readonly putAt: number
}

/** For the store in memory: both end with their process. */
export function openMemoryBodies({ clock }: { readonly clock: Pick<Clock, 'now'> }): BodyStore {
  const kept = new Map<string, Kept>()
  let last = 0
  return {
    kind: 'memory',
    async put({ tenant, bytes, mostBytes }) {
      const chunks: Uint8Array[] = []
      const { bodyRef, sizeBytes } = await measured(bytes, mostBytes, chunk => chunks.push(Uint8Array.from(chunk)))
      const location = locationOf({ tenant, bodyRef }, (++last).toString(16).padStart(32, '0'))
      kept.set(location, { chunks, putAt: clock.now() })
      return { tenant, bodyRef, sizeBytes, location }
    },
    async read(location) {
      const body = kept.get(location)
      return body && inTurn(body.chunks)
    },
    async remove(location) {
      kept.delete(location)
    },
    async *putBefore(instant) {
      for (const [location, { putAt }] of kept) if (putAt < instant) yield location
    },
  }
}

async function* inTurn(chunks: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  yield* chunks
}
