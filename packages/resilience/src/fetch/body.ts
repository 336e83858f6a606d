import { ignored } from '../classify/marks.ts'
import { NotReplayableError } from './errors.ts'
import { encodeForm } from './form.ts'
import type { BodyMaker, RequestBody } from './options.ts'

/** Where each attempt gets its body from. */
export interface BodySource {
  /** A stream: there is one, and it can be sent once. */
  readonly isSingleUse: boolean
  /** What the next attempt sends; undefined: whatever its input brings along. */
  next(signal: AbortSignal): SentBody | Promise<SentBody>
  /** No further attempt comes: whoever still reads may stop. */
  end?(): void
}

export type SentBody = RequestBody | null | undefined

/** Nothing of our own is sent: no body at all, or that of a `Request`, as it is. */
export function untouchedBody(isSingleUse: boolean): BodySource {
  return { isSingleUse, next: () => undefined }
}

/** The same body for every attempt, as it is now: whoever reuses a buffer after the call changes nothing. */
export function givenBody(body: RequestBody, maxAttempts: number): BodySource {
  const isSingleUse = isStream(body)
  const sent = isSingleUse || maxAttempts === 1 ? body : snapshot(body)
  return { isSingleUse, next: () => sent }
}

/** A new body for each attempt. */
export class MadeBody implements BodySource {
  readonly isSingleUse = false
  readonly #make: BodyMaker
  #last: SentBody

  constructor(make: BodyMaker) {
    this.#make = make
  }

  async next(signal: AbortSignal): Promise<SentBody> {
    const making = Promise.resolve(this.#make())
    const body = await unlessAborted(making, signal).catch((error: unknown) => {
      // What arrives when its attempt is over will be read by nobody; whoever holds a file open for it must hear that.
      making.then(release, () => {})
      throw error
    })
    if (isStream(body) && body === this.#last)
      throw ignored(new NotReplayableError('the function that makes the body returned the same stream twice'))
    return (this.#last = body)
  }
}

/** The body of a `Request`, read once and kept. */
export class BufferedBody implements BodySource {
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

/** Whether a body can be read only once: a web stream, or anything that is iterated asynchronously. */
export function isStream(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false
  return Symbol.asyncIterator in body || typeof (body as { getReader?: unknown }).getReader === 'function'
}

/** Ends a stream that nobody will read: `cancel` of the web's, `destroy` of Node's; others have nothing open yet. */
function release(body: SentBody): void {
  if (!isStream(body)) return
  const { cancel, destroy } = body as { cancel?: () => Promise<void>; destroy?: () => void }
  if (destroy !== undefined) destroy.call(body)
  // A stream that cannot be cancelled (locked, or broken) is in somebody else's hands.
  else cancel?.call(body).catch(() => {})
}

function snapshot(body: RequestBody): RequestBody {
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice()
  if (body instanceof ArrayBuffer) return body.slice(0)
  if (body instanceof URLSearchParams) return new URLSearchParams(body)
  // Forms that cannot be walked through, as in React Native, are left to their own fetch.
  if (body instanceof FormData && typeof body.forEach === 'function') return encodeForm(body)
  return body
}

/** The attempt ends when its signal says so; what it waited for may go on, for the next one. */
function unlessAborted<T>(value: T | PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    Promise.resolve(value).then(resolve, reject)
  })
}
