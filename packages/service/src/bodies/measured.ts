import { createHash } from 'node:crypto'
import { bodyRefOf } from '../task/body-ref.ts'
import { BodyTooLargeError, type ByteChunks, type KeptBody } from './body-store.ts'

export type Measured = Omit<KeptBody, 'location'>

/** Hands the bytes on as they come, and says what they were; stops before there are too many. */
export async function measured(
  bytes: ByteChunks,
  mostBytes: number,
  write: (chunk: Uint8Array) => unknown,
): Promise<Measured> {
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
