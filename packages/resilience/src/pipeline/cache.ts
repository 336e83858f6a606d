import { isRecord, withoutUndefined } from '../check/problems.ts'
import type { Clock } from '../ports/clock.ts'
import { inTime } from '../ports/in-time.ts'
import { isThenable } from '../retry/thenable.ts'

export interface CacheOptions {
  /** So long a result is taken instead of a call; a minute unless told. */
  readonly ttlMs?: number
  /** So much longer it is taken when the call has failed; 0 unless told. */
  readonly staleMs?: number
  /** Results that the built-in store keeps; those not asked for longest make room. 1,000 unless told. */
  readonly maxEntries?: number
  /** Another place for results; else the memory of this process. */
  readonly store?: CacheStore
}

/** Where results are kept. What it throws is as if it had nothing: a cache that is down must not take the calls along. */
export interface CacheStore {
  get(key: string): CacheEntry | undefined | PromiseLike<CacheEntry | undefined>
  set(key: string, entry: CacheEntry): unknown
}

export interface CacheEntry {
  readonly value: unknown
  /** Wall time, in ms since the epoch: the store may be shared with other machines. */
  readonly storedAt: number
}

const DEFAULT_CACHE: Required<Omit<CacheOptions, 'store'>> = {
  ttlMs: 60_000, // long enough to take a burst, short enough to be forgiven
  staleMs: 0, // whoever takes old answers must have said so
  maxEntries: 1_000, // bounded: a cache without an end is a leak
}

interface CachedRun<T> {
  readonly run: () => Promise<T>
  readonly isWorthKeeping: (value: T) => boolean
  readonly signal: AbortSignal | undefined
}

/** The outermost layer: what it answers is not called, not counted and not limited by the deadline. */
export class Cache {
  readonly #clock: Clock
  readonly #options: Required<CacheOptions>

  constructor(options: CacheOptions, clock: Clock) {
    const { maxEntries = DEFAULT_CACHE.maxEntries } = options
    this.#clock = clock
    this.#options = { ...DEFAULT_CACHE, store: new MemoryStore(maxEntries), ...withoutUndefined(options) }
  }

  /** `isWorthKeeping` tells the call's own successes from failures that were returned and answers of somebody else. */
  async through<T>(key: string, { run, isWorthKeeping, signal }: CachedRun<T>): Promise<T> {
    const { ttlMs, staleMs } = this.#options
    const entry = await this.#get(key, signal)
    const ageMs = entry === undefined ? Infinity : this.#clock.now() - entry.storedAt
    // An entry of the future was written by a clock that is ahead of ours, and is as good as new.
    if (entry !== undefined && ageMs < ttlMs) return entry.value as T
    try {
      const value = await run()
      // Not waited for: a store that is slow to write must not keep anybody from an answer that is there.
      if (isWorthKeeping(value)) void this.#set(key, { value, storedAt: this.#clock.now() })
      return value
    } catch (error) {
      const isStillGood = entry !== undefined && ageMs < ttlMs + staleMs
      // Who went away wants no answer, and gets the reason of the abort.
      if (isStillGood && signal?.aborted !== true) return entry.value as T
      throw error
    }
  }

  async #get(key: string, signal: AbortSignal | undefined): Promise<CacheEntry | undefined> {
    try {
      const found = this.#options.store.get(key)
      return entryOf(
        isThenable(found) ? await inTime(found, { clock: this.#clock, ms: LONGEST_LOOK_MS, signal }) : found,
      )
    } catch (error) {
      if (signal?.aborted === true) throw error
      return undefined
    }
  }

  async #set(key: string, entry: CacheEntry): Promise<void> {
    try {
      await this.#options.store.set(key, entry)
    } catch {
      // The result is there all the same.
    }
  }
}

/** Longer than any cache that is worth asking takes: a store that hangs is one that is down. */
const LONGEST_LOOK_MS = 1_000

/** What stores call nothing: undefined, null, an empty text. */
function entryOf(found: unknown): CacheEntry | undefined {
  return isRecord(found) && typeof found['storedAt'] === 'number' ? (found as unknown as CacheEntry) : undefined
}

class MemoryStore implements CacheStore {
  readonly #maxEntries: number
  /** In the order in which they were asked for. */
  readonly #entries = new Map<string, CacheEntry>()

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries
  }

  get(key: string): CacheEntry | undefined {
    const entry = this.#entries.get(key)
    if (entry !== undefined) this.set(key, entry)
    return entry
  }

  set(key: string, entry: CacheEntry): void {
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    if (this.#entries.size <= this.#maxEntries) return
    const [oldest] = this.#entries.keys()
    this.#entries.delete(oldest!)
  }
}
