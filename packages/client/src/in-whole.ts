import type { FetchOptions } from '@secondwind/resilience/fetch'

export type Fetch = NonNullable<FetchOptions['fetch']>

/** Four times the largest body that a service takes: a page of tasks, whatever their headers, is far from it. */
const DEFAULT_MAX_ANSWER_BYTES = 67_108_864

/** Whoever sends more could fill the memory of whoever reads it. */
export class AnswerTooLargeError extends Error {
  readonly status: number
  readonly maxBytes: number

  constructor(status: number, maxBytes: number) {
    super(`the answer is longer than ${maxBytes} bytes`)
    this.status = status
    this.maxBytes = maxBytes
  }
}

/** An answer is there when all of it is: one that breaks off fails its attempt, time-out included. */
export function inWhole(fetch: Fetch, maxBytes: number | undefined): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    const { status, headers } = response
    // What has no status or no content cannot be made anew, and breaks off nowhere.
    if (status < 200 || EMPTY_STATUSES.includes(status)) return response
    return new Response(await readWhole(response, maxBytes), { status, headers })
  }
}

/** RFC 9110 §6.4.1. */
const EMPTY_STATUSES: readonly number[] = [204, 205, 304]

/** Counted as it is unpacked: a few bytes on the wire can be many in memory. */
export async function readWhole(
  { body, status }: Response,
  maxBytes: number = DEFAULT_MAX_ANSWER_BYTES,
): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  const reader = body?.getReader()
  for (;;) {
    const piece = (await reader?.read())?.value
    if (piece === undefined) break
    bytes += piece.length
    if (bytes > maxBytes) {
      // Nobody waits for how that ends: the answer is refused, whatever its sender does.
      reader?.cancel().catch(() => undefined)
      throw new AnswerTooLargeError(status, maxBytes)
    }
    pieces.push(piece)
  }
  const whole = new Uint8Array(bytes)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
