import assert from 'node:assert/strict'
import type { BodyRecord } from '../stores/store.ts'
import type { BodyStore, ByteChunks } from './body-store.ts'
import { keepBody, type BodyPlaces, type Upload } from './keep-body.ts'

/** A body with its row, as an upload leaves it: needed for no instant unless changed. */
export async function uploaded(
  places: BodyPlaces,
  bytes: ByteChunks | string,
  changes: Partial<Omit<Upload, 'bytes'>> = {},
): Promise<BodyRecord> {
  const put = await keepBody(places, {
    tenant: 'acme',
    bytes: typeof bytes === 'string' ? [Buffer.from(bytes)] : bytes,
    contentType: 'text/plain',
    neededUntil: 0,
    mostBytes: Infinity,
    mostBytesOfTenant: Infinity,
    ...changes,
  })
  assert.ok(put.kind !== 'full')
  return put.record
}

/** Where all bodies lie that were put before an instant, or all; in order. */
export async function locationsIn(
  bodies: Pick<BodyStore, 'putBefore'>,
  putBefore: number = Number.MAX_SAFE_INTEGER,
): Promise<string[]> {
  const locations: string[] = []
  for await (const location of bodies.putBefore(putBefore)) locations.push(location)
  return locations.toSorted()
}
