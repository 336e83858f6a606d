/**
 * How large bodies come, stay and go. Bytes, the store's index (a row for each body) and tasks may be in three systems, and a
 * process may die between any two steps. In this order it leaves bytes too long, never too short:
 *
 *   an upload                    bytes → row, for a day
 *   a task that brings a body    bytes → row, for the task → task
 *   a task that names a body     row, for the task → task
 *   a task that becomes a dead letter, or is replayed
 *                                row, for longer → settle, replay
 *   the same bytes again         bytes in a new location → row → the bytes in the former location go
 *   a body that is not needed    row goes → bytes go
 *   bytes that no row names, after a day
 *                                bytes go
 *
 *  1. A row has its bytes.
 *  2. A task that can be sent has the row of its body. One exception: a task that waits until its deadline is a dead letter before
 *     its row is for longer.
 *  3. A row is never made shorter; `needed-until.ts` says how long it is for.
 */
import type { BodyIndex, PutBody } from '../stores/store.ts'
import type { BodyStore, ComingBody } from './body-store.ts'

export interface BodyPlaces {
  readonly store: Pick<BodyIndex, 'putBody'>
  readonly bodies: Pick<BodyStore, 'put' | 'remove'>
}

export interface Upload extends ComingBody {
  readonly contentType: string
  readonly neededUntil: number
  /** All bodies of the tenant together. */
  readonly mostBytesOfTenant: number
}

/** Keeps the bytes, then their row. If the store fails, the row may be written all the same: the bytes stay, and a sweep decides. */
export async function keepBody({ store, bodies }: BodyPlaces, body: Upload): Promise<PutBody> {
  const { contentType, neededUntil, mostBytesOfTenant, ...coming } = body
  const kept = await bodies.put(coming)
  const put = await store.putBody({ ...kept, contentType, neededUntil, mostBytes: mostBytesOfTenant })
  const unnamed = put.kind === 'full' ? kept.location : put.leftLocation
  // A sweep removes what cannot be removed now.
  if (unnamed !== undefined) await bodies.remove(unnamed).catch(() => undefined)
  return put
}
