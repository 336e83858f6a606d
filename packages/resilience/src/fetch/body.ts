import { ignored } from '../classify/marks.ts'
import { copyOfBytes, isStream, unlessAborted, type BodySource } from '../wire/body.ts'
import { NotReplayableError } from '../wire/errors.ts'
import { encodeForm } from './form.ts'
import type { RequestBody } from './options.ts'

/** Undefined: whatever the input brings along. */
export type SentBody = RequestBody | null | undefined

/** Nothing of our own is sent: no body at all, or that of a `Request`, as it is. */
export function untouchedBody(isSingleUse: boolean): BodySource<SentBody> {
  return { isSingleUse, next: () => undefined }
}

/** The same body for every attempt, as it is now: whoever reuses a buffer after the call changes nothing. */
export function givenBody(body: RequestBody, maxAttempts: number): BodySource<SentBody> {
  const isSingleUse = isStream(body)
  const sent = isSingleUse || maxAttempts === 1 ? body : snapshot(body)
  return { isSingleUse, next: () => sent }
}

/** The body of a `Request`, read once and kept. */
export class BufferedBody implements BodySource<SentBody> {
  readonly isSingleUse = false
  readonly #request: Request
  readonly #maxBytes: number
  #kept: Promise<Blob> | undefined
  #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined

  constructor(request: Request, maxBytes: number) {
    this.#request = request
    this.#maxBytes = maxBytes
  }

  next(signal: AbortSignal): Promise<Blob> {
    return unlessAborted((this.#kept ??= this.#keep()), signal)
  }

  end(): void {
    // A reader that has nothing left to cancel says so; that is what was wanted.
    this.#reader?.cancel().catch(() => {})
  }

  async #keep(): Promise<Blob> {
    const { body, bodyUsed } = this.#request
    if (bodyUsed) throw ignored(new NotReplayableError('the body of the Request has been read already'))
    // Some browsers do not show the stream of a request.
    const kept = body ? await this.#readStream(body) : await this.#request.blob()
    if (kept.size > this.#maxBytes) throw this.#tooLong()
    // Without a type of its own: the request's headers have one, unless the caller took it out.
    return new Blob([kept])
  }

  async #readStream(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<Blob> {
    const reader = (this.#reader = body.getReader())
    const chunks: Uint8Array<ArrayBuffer>[] = []
    for (let bytes = 0; bytes <= this.#maxBytes;) {
      const { done, value } = await reader.read()
      if (done) return new Blob(chunks)
      bytes += value.byteLength
      chunks.push(value)
    }
    throw this.#tooLong()
  }

  #tooLong(): object {
    return ignored(new NotReplayableError(`the body of the Request is longer than maxReplayBytes, ${this.#maxBytes}`))
  }
}

function snapshot(body: RequestBody): RequestBody {
  if (ArrayBuffer.isView(body)) return copyOfBytes(body)
  if (body instanceof ArrayBuffer) return body.slice(0)
  if (body instanceof URLSearchParams) return new URLSearchParams(body)
  // Forms that cannot be walked through, as in React Native, are left to their own fetch.
  if (body instanceof FormData && typeof body.forEach === 'function') return encodeForm(body)
  return body
}
