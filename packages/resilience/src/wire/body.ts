import { ignored } from '../classify/marks.ts'
import { NotReplayableError } from './errors.ts'

/** Where each attempt gets its body from. */
export interface BodySource<Body> {
  /** A stream: there is one, and it can be sent once. */
  readonly isSingleUse: boolean
  /** What the next attempt sends. */
  next(signal: AbortSignal): Body | Promise<Body>
  /** No further attempt comes: whoever still reads may stop. */
  end?(): void
}

/** A new body for each attempt. */
export class MadeBody<Body> implements BodySource<Body> {
  readonly isSingleUse = false
  readonly #make: () => Body | PromiseLike<Body>
  #last: Body | undefined

  constructor(make: () => Body | PromiseLike<Body>) {
    this.#make = make
  }

  async next(signal: AbortSignal): Promise<Body> {
    const making = Promise.resolve(this.#make())
    const body = await unlessAborted(making, signal).catch((error: unknown) => {
      // What arrives when its attempt is over will be read by nobody; whoever holds a file open for it must hear that.
      making.then(release).catch(() => {})
      throw error
    })
    if (isStream(body) && body === this.#last)
      throw ignored(new NotReplayableError('the function that makes the body returned the same stream twice'))
    return (this.#last = body)
  }
}

/** Whether a body can be read only once: a web stream, or anything that is iterated asynchronously. */
export function isStream(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false
  return Symbol.asyncIterator in body || typeof (body as { getReader?: unknown }).getReader === 'function'
}

/** The bytes as they are now: whoever reuses a buffer after the call changes nothing. */
export function copyOfBytes({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer, byteOffset, byteLength).slice()
}

/** The attempt ends when its signal says so; what it waited for may go on, for the next one. */
export function unlessAborted<T>(value: T | PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    // Whoever makes the value may have aborted: of that no event tells any more.
    if (signal.aborted) reject(signal.reason)
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    Promise.resolve(value).then(resolve, reject)
  })
}

/** Ends a stream that nobody will read: `cancel` of the web's, `destroy` of Node's; others have nothing open yet. */
function release(body: unknown): void {
  if (!isStream(body)) return
  const { cancel, destroy } = body as { cancel?: () => Promise<void>; destroy?: () => void }
  if (destroy !== undefined) destroy.call(body)
  // A stream that cannot be cancelled (locked, or broken) is in somebody else's hands.
  else cancel?.call(body).catch(() => {})
}
