import type { Clock } from '@secondwind/resilience'
import { StoreUnavailableError } from '../stores/task-store.ts'
import { leftFor, sayNoRoom, type Purpose, type Space } from '../task/disk-reserve.ts'

export interface DiskSpaceOptions {
  readonly look: () => Promise<Space>
  readonly clock: Pick<Clock, 'monotonic'>
}

/** To be told when what was let in is written, or will not be. */
export type Written = () => void

/** Looked at again after so long, for whoever else writes to the disk, or makes room on it. */
const BETWEEN_LOOKS_MS = 1_000

/** And after so many bytes, of all who write together. */
export const BETWEEN_LOOKS_BYTES = 4_194_304

/** What was seen so long ago is not believed any more. */
const BELIEVED_MS = 5_000

/** Into the log, and from there into the file. */
const TIMES_WRITTEN = 2

/** Lets through what there is room for on the disk: a look costs a call, and so not everything has one. */
export class DiskSpace {
  readonly #options: DiskSpaceOptions
  #lookedAt = -Infinity
  /** Let in, and not yet written; and written since the latest look. */
  #underWayBytes = 0
  #writtenBytes = 0
  /** Of the latest look; absent where the disk does not say what it has: it says the rest to the store. */
  #space: Space | undefined
  #looking: Promise<void> | undefined

  constructor(options: DiskSpaceOptions) {
    this.#options = options
  }

  /** Has so many bytes written, or rejects before the disk is full. */
  async within<Result>(purpose: Purpose, bytes: number, write: () => Promise<Result>): Promise<Result> {
    const taking = this.takeOrRefuse(purpose, bytes)
    const written = taking instanceof Promise ? await taking : taking
    try {
      return await write()
    } finally {
      written()
    }
  }

  /** At once, unless nobody has looked for long. Throws, or rejects, before the disk is full. */
  takeOrRefuse(purpose: Purpose, bytes: number): Written | Promise<Written> {
    const looking = this.#see()
    return looking === undefined
      ? this.#takeOrThrow(purpose, bytes)
      : looking.then(() => this.#takeOrThrow(purpose, bytes))
  }

  /** Absent where there is no room: for whoever can do without. At once, unless nobody has looked for long. */
  takeIfFree(purpose: Purpose, bytes: number): Written | undefined | Promise<Written | undefined> {
    const take = (): Written | undefined => (this.#hasRoom(purpose, bytes) ? this.take(bytes) : undefined)
    const looking = this.#see()
    return looking === undefined ? take() : looking.then(take)
  }

  /** For what is written in any case: others see that there is less. */
  take(bytes: number): Written {
    this.#underWayBytes += bytes
    return () => {
      this.#underWayBytes -= bytes
      this.#writtenBytes += bytes
    }
  }

  /** Why nothing can be sent, or taken in, now, if so. */
  async problem(): Promise<string | undefined> {
    await this.#see()
    const lacking = (['attempts', 'tasks'] as const).find(purpose => !this.#hasRoom(purpose, 0))
    return lacking && sayNoRoom(lacking)
  }

  #takeOrThrow(purpose: Purpose, bytes: number): Written {
    if (!this.#hasRoom(purpose, bytes)) throw new StoreUnavailableError('store-full', sayNoRoom(purpose))
    return this.take(bytes)
  }

  #hasRoom(purpose: Purpose, bytes: number): boolean {
    if (this.#space === undefined) return true
    return leftFor(purpose, this.#space) >= TIMES_WRITTEN * (this.#underWayBytes + this.#writtenBytes + bytes)
  }

  /**
   * A look that must be waited for. Whoever writes all the time waits for none: what was written since the latest look is
   * counted.
   */
  #see(): Promise<void> | undefined {
    const sinceMs = this.#options.clock.monotonic() - this.#lookedAt
    if (sinceMs < BETWEEN_LOOKS_MS && this.#writtenBytes < BETWEEN_LOOKS_BYTES) return undefined
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined))
    return sinceMs >= BELIEVED_MS ? this.#looking : undefined
  }

  async #look(): Promise<void> {
    const { look, clock } = this.#options
    const countedBytes = this.#writtenBytes
    this.#space = await look().catch(() => undefined)
    this.#lookedAt = clock.monotonic()
    this.#writtenBytes -= countedBytes
  }
}
