/**
 * Where large bodies lie, apart from their tasks. The store's index says what they are and until when they are needed; here are
 * only bytes. `keep-body.ts` says in which order both are written, `body-store.conformance.ts` what the words mean.
 *
 *  1. What `put` has answered is read again, byte by byte, until it is removed. What it has not answered is not there.
 *  2. No location is used twice: a sweep of old bytes never meets new ones.
 *  3. A location says whose body it is (`location.ts`), so that bytes which the index does not know can be found.
 *  4. A text that is no location leads nowhere.
 */
import type { BodyRecord } from '../stores/store.ts'

export interface BodyStore {
  readonly kind: string
  /** Keeps all bytes. Past `mostBytes` it keeps nothing, and rejects with `BodyTooLargeError`. */
  put(body: ComingBody): Promise<KeptBody>
  /** Undefined when nothing is there. */
  read(location: string): Promise<AsyncIterable<Uint8Array> | undefined>
  /** A body that is gone already is no problem. */
  remove(location: string): Promise<void>
  /** The locations of all bodies, of every tenant, that were put before an instant of the wall clock. Each comes once. */
  putBefore(instant: number): AsyncIterable<string>
}

export interface ComingBody {
  readonly tenant: string
  readonly bytes: ByteChunks
  readonly mostBytes: number
}

export type ByteChunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/** `bodyRef` names these bytes, wherever they lie. */
export type KeptBody = Pick<BodyRecord, 'tenant' | 'bodyRef' | 'sizeBytes' | 'location'>

export class BodyTooLargeError extends Error {
  readonly code = 'body-too-large'
  readonly mostBytes: number

  constructor(mostBytes: number) {
    super(`the body has more than ${mostBytes} bytes`)
    this.name = 'BodyTooLargeError'
    this.mostBytes = mostBytes
  }
}
