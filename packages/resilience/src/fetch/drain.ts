import { headerOf } from '../retry/retry-after.ts'
import { MOST_DRAINED_BYTES } from '../wire/decide.ts'

/**
 * Reads a failed response to its end before the wait: unread, it would keep its connection, and an outage would empty
 * the pool. It is read through a copy, so that the response itself stays readable: it is the caller's after all if no
 * further attempt is allowed. A long body is cancelled instead.
 *
 * The returned function stops the reading and leaves the rest of the body to the response.
 */
export function drain(response: Response): () => void {
  const isLong = Number(headerOf(response.headers, 'content-length')) > MOST_DRAINED_BYTES
  if (isLong) cancelBody(response)
  // Whoever began to read, an observer perhaps, will also come to an end.
  if (response.bodyUsed || response.body?.locked !== false) return nothing
  const reader = response.clone().body!.getReader()
  // A body whose connection was lost holds nothing any more.
  readAway(reader, response).catch(nothing)
  return () => void reader.cancel().catch(nothing)
}

/** Lets go of a body, and of the connection if it is still coming. A body that somebody reads is left to them. */
export function cancelBody({ body }: Response): void {
  if (body?.locked === false) body.cancel().catch(nothing)
}

async function readAway(reader: ReadableStreamDefaultReader<Uint8Array>, response: Response): Promise<void> {
  for (let bytes = 0; bytes <= MOST_DRAINED_BYTES;) {
    const { done, value } = await reader.read()
    if (done) return
    bytes += value.byteLength
  }
  // Both copies: the connection is let go when nobody wants the rest.
  cancelBody(response)
  await reader.cancel()
}

function nothing(): void {}
