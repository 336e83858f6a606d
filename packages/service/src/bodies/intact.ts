/** Bytes on their way to a disk or from it, counted and hashed as they pass. */
import { createHash } from 'node:crypto'
import { bodyRefOf } from '../task/body-ref.ts'
import type { StoredBody } from '../task/task.ts'
import { BodyTooLargeError, type ByteChunks } from './body-store.ts'

/** The bytes that were read are not those that were put: a disk, a restore or a person has changed them. */
export class DamagedBodyError extends Error {
  readonly code = 'body-damaged'

  constructor({ bodyRef, sizeBytes }: StoredBody) {
    super(`the bytes kept as ${bodyRef} are not the ${sizeBytes} that were uploaded`)
    this.name = 'DamagedBodyError'
  }
}

/** Writes the bytes as they come, and answers what they are; stops before there are too many. */
export async function measured(
  bytes: ByteChunks,
  mostBytes: number,
  write: (chunk: Uint8Array) => unknown,
): Promise<StoredBody> {
  const hash = createHash('sha256')
  let sizeBytes = 0
  for await (const chunk of bytes) {
    sizeBytes += chunk.length
    if (sizeBytes > mostBytes) throw new BodyTooLargeError(mostBytes)
    hash.update(chunk)
    await write(chunk)
  }
  return { bodyRef: bodyRefOf(hash.digest('hex')), sizeBytes }
}

/**
 * Passes the bytes on as they come, and throws as soon as they are known to be wrong. The last of them waits for the hash: a
 * reader that has all bytes has the right ones.
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
