import type { Clock } from '@secondwind/resilience'
import { StoreUnavailableError } from '../../stores/task-store.ts'
import { BETWEEN_LOOKS_BYTES, reservedBytes, type Space } from './free-space.ts'

export interface IntakeSpaceOptions {
  readonly look: () => Promise<Space>
  readonly clock: Pick<Clock, 'monotonic'>
}

/** Looked at again after so long, for whoever else writes to the disk, or makes room on it. */
const BETWEEN_LOOKS_MS = 1_000

/**
 * Of what bodies leave free for tasks, those that come may have the half: the rest is for what becomes of those that are
 * there, so that a disk is never full for want of saying no, and whoever fills it with bodies stops no intake.
 */
const PART_FOR_INTAKE = 1 / 2

/** Into the log, and from there into the file. */
const TIMES_WRITTEN = 2

const NO_ROOM = 'the disk is nearly full: what is left is kept for tasks that were taken in already; make room on it'

/** Lets tasks in while there is room for them on the disk: a look costs a call, and so not every task has one. */
export class IntakeSpace {
  readonly #options: IntakeSpaceOptions
  #lookedAt = -Infinity
  /** Let in, and not yet written; and written since the latest look. */
  #underWayBytes = 0
  #writtenBytes = 0
  /** Of the latest look, above what is kept. */
  #leftBytes = Infinity
  #looking: Promise<void> | undefined

  constructor(options: IntakeSpaceOptions) {
    this.#options = options
  }

  /** Has so many bytes written, or rejects before the disk is full. */
  async within<Result>(bytes: number, write: () => Promise<Result>): Promise<Result> {
    if (this.#isOld()) await this.#lookOnce()
    if (!this.#hasRoomFor(bytes)) throw new StoreUnavailableError('store-full', NO_ROOM)
    this.#underWayBytes += bytes
    try {
      return await write()
    } finally {
      this.#underWayBytes -= bytes
      this.#writtenBytes += bytes
    }
  }

  /** Why nothing can be taken in now, if so. */
  async problem(): Promise<string | undefined> {
    if (this.#isOld()) await this.#lookOnce()
    return this.#hasRoomFor(0) ? undefined : NO_ROOM
  }

  #hasRoomFor(bytes: number): boolean {
    return this.#leftBytes >= TIMES_WRITTEN * (this.#underWayBytes + this.#writtenBytes + bytes)
  }

  #isOld(): boolean {
    const sinceMs = this.#options.clock.monotonic() - this.#lookedAt
    return sinceMs >= BETWEEN_LOOKS_MS || this.#writtenBytes >= BETWEEN_LOOKS_BYTES
  }

  #lookOnce(): Promise<void> {
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined))
    return this.#looking
  }

  async #look(): Promise<void> {
    const { look, clock } = this.#options
    // A disk that does not say what it has says the rest to the store.
    const space = await look().catch(() => undefined)
    this.#lookedAt = clock.monotonic()
    this.#writtenBytes = 0
    this.#leftBytes = space === undefined ? Infinity : space.freeBytes - reservedBytes(space) * PART_FOR_INTAKE
  }
}
