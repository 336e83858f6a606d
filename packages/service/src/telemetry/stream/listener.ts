/** Where what a listener hears goes: its connection. */
export interface Outlet {
  /** It has not yet taken what it was given. */
  readonly isFull: boolean
  write(bytes: Uint8Array): void
  /** Politely: what was given is still sent. */
  end(): void
  /** At once. */
  cut(): void
}

export interface ListenerOptions {
  readonly outlet: Outlet
  /** The number up to which it has heard. */
  readonly cursor: number
  readonly now: number
  /** Asked again and again: a key may be revoked while its owner listens. */
  readonly isStillAllowed: () => Promise<boolean>
}

/** A connection that takes nothing for so long has nobody at its end. */
const LONGEST_STALL_MS = 10_000
/** What stands between here and there takes a silent connection for a dead one. */
const LONGEST_SILENCE_MS = 15_000
const ALLOWED_FOR_MS = 5_000

/** Somebody who listens, and how far they have heard. Nothing is kept for them here: whoever is slow reads the feed later. */
export class Listener {
  cursor: number
  readonly #outlet: Outlet
  readonly #isStillAllowed: () => Promise<boolean>
  #writtenAt: number
  #askAgainAt: number
  #fullSince: number | undefined

  constructor({ outlet, cursor, now, isStillAllowed }: ListenerOptions) {
    this.cursor = cursor
    this.#outlet = outlet
    this.#isStillAllowed = isStillAllowed
    this.#writtenAt = now
    this.#askAgainAt = now + ALLOWED_FOR_MS
  }

  get isFull(): boolean {
    return this.#outlet.isFull
  }

  write(bytes: Uint8Array, now: number): void {
    this.#writtenAt = now
    this.#outlet.write(bytes)
  }

  isSilent(now: number): boolean {
    return now - this.#writtenAt >= LONGEST_SILENCE_MS
  }

  /** To be asked often: for how long it has taken nothing is seen by looking. */
  isStalled(now: number): boolean {
    if (!this.isFull) this.#fullSince = undefined
    else this.#fullSince ??= now
    return this.#fullSince !== undefined && now - this.#fullSince >= LONGEST_STALL_MS
  }

  /** Ends it when it may no longer listen; who cannot be asked about does not go on either. */
  checkLeave(now: number): void {
    if (now < this.#askAgainAt) return
    this.#askAgainAt = now + ALLOWED_FOR_MS
    this.#isStillAllowed().then(
      isAllowed => (isAllowed ? undefined : this.end()),
      () => this.end(),
    )
  }

  end(): void {
    this.#outlet.end()
  }

  cut(): void {
    this.#outlet.cut()
  }
}
