import type { Clock } from '../ports/clock.ts'

/** Nobody has used it for so long, or up to twice as long: what it remembers is no longer true. */
const IDLE_MS = 600_000

/** So many leave at once, so that a client with ever new keys does not look through all of them at each. */
const LEAVING_SHARE = 0.1

interface Entry<State> {
  readonly state: State
  /** The number of the latest use: the order is enough, and costs no look at the clock. */
  used: number
}

/**
 * A state for each key, in bounded number. No timer tidies up: whoever brings a new key makes room, first by forgetting
 * those that were idle for long, then those that were not used for longest. Operations under way keep the state
 * that they began with.
 */
export class Keys<State> {
  readonly #make: (key: string) => State
  readonly #clock: Clock
  readonly #maxKeys: number
  readonly #entries = new Map<string, Entry<State>>()
  #uses = 0
  /** When the idle ones were last looked for, and the latest use at that time. */
  #lookedAt = 0
  #usesThen = 0

  constructor(make: (key: string) => State, clock: Clock, maxKeys: number) {
    this.#make = make
    this.#clock = clock
    this.#maxKeys = maxKeys
    this.#lookedAt = clock.monotonic()
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): State {
    const entry = this.#entries.get(key) ?? this.#add(key)
    entry.used = ++this.#uses
    return entry.state
  }

  /** Those that are known, without making any. */
  *[Symbol.iterator](): Generator<readonly [key: string, state: State]> {
    for (const [key, { state }] of this.#entries) yield [key, state]
  }

  replace(change: (state: State, key: string) => State): void {
    for (const [key, { state, used }] of this.#entries) this.#entries.set(key, { state: change(state, key), used })
  }

  #add(key: string): Entry<State> {
    this.#forgetIdle(this.#clock.monotonic())
    if (this.#entries.size >= this.#maxKeys) this.#makeRoom()
    const entry = { state: this.#make(key), used: 0 }
    this.#entries.set(key, entry)
    return entry
  }

  #forgetIdle(now: number): void {
    if (now - this.#lookedAt < IDLE_MS) return
    for (const [key, { used }] of this.#entries) if (used <= this.#usesThen) this.#entries.delete(key)
    this.#lookedAt = now
    this.#usesThen = this.#uses
  }

  #makeRoom(): void {
    const byUse = [...this.#entries].toSorted(([, a], [, b]) => a.used - b.used)
    for (const [key] of byUse.slice(0, Math.ceil(this.#maxKeys * LEAVING_SHARE))) this.#entries.delete(key)
  }
}
