/**
 * Where large bodies lie, apart from their tasks. The task store says what they are and who uses them; here are only bytes,
 * each under a location that was made up for it. What the words mean is said by `body-store.conformance.ts`.
 *
 *  1. What `put` has answered is read again, byte by byte, as long as nobody removes it; what it has not, is not there.
 *  2. No location is used twice: a sweep of what is old never meets what is new.
 *  3. A text that is no location of ours leads nowhere.
 */
import type { Page, PageAsk } from '../stores/task-store.ts'

export interface BodyStore {
  readonly kind: string
  /** Keeps all that comes; past `mostBytes` it keeps nothing, and rejects with `BodyTooLargeError`. */
  put(bytes: ByteChunks, mostBytes: number): Promise<KeptBody>
  /** Undefined when nothing is there. */
  read(location: string): Promise<AsyncIterable<Uint8Array> | undefined>
  /** What is gone already is no problem. */
  remove(location: string): Promise<void>
  /** What was put before an instant of the wall clock, and what was left half-written since. */
  list(ask: OldBodies): Promise<Page<string>>
}

export type ByteChunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

export interface KeptBody {
  readonly location: string
  /** The name of these bytes, wherever they lie. */
  readonly bodyRef: string
  readonly sizeBytes: number
}

export interface OldBodies extends PageAsk {
  readonly putBefore: number
}

export class BodyTooLargeError extends Error {
  readonly code = 'body-too-large'
  readonly mostBytes: number

  constructor(mostBytes: number) {
    super(`the body has more than ${mostBytes} bytes`)
    this.name = 'BodyTooLargeError'
    this.mostBytes = mostBytes
  }
}
