import { createHash } from 'node:crypto'
import { bodyRefOf } from '../task/body-ref.ts'
import type { StoredBody } from '../task/task.ts'

/** What lies there is not what was put: a disk, a restore or a hand has changed it. */
export class DamagedBodyError extends Error {
  readonly code = 'body-damaged'

  constructor({ bodyRef, sizeBytes }: StoredBody) {
    super(`the bytes kept as ${bodyRef} are not the ${sizeBytes} that were uploaded`)
    this.name = 'DamagedBodyError'
  }
}

/**
 * Hands the bytes on as they come, and throws as soon as they are known to be others. The last of them waits for the
 * hash: whoever has got all has got the right ones.
 */
export async function* intact(chunks: AsyncIterable<Uint8Array>, expected: StoredBody): AsyncIterable<Uint8Array> {
  const hash = createHash('sha256')
  let bytes = 0
  let last: Uint8Array | undefined
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > expected.sizeBytes) throw new DamagedBodyError(expected)
    hash.update(chunk)
    if (last !== undefined) yield last
    last = chunk
  }
  if (bytes !== expected.sizeBytes || bodyRefOf(hash.digest('hex')) !== expected.bodyRef)
    throw new DamagedBodyError(expected)
  if (last !== undefined) yield last
}
