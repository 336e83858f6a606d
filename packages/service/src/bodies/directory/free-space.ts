import { BETWEEN_LOOKS_BYTES } from '../../space/disk-space.ts'
import { StoreUnavailableError } from '../../stores/task-store.ts'
import { leftFor, sayNoRoom, type Space } from '../../task/disk-reserve.ts'

/** Of each, however short it is: a block that is not full, and its row in the store. */
const FILE_BYTES = 8_192

/** Lets bodies have what tasks do not need: whoever fills the disk with them stops nobody's deliveries. */
export class FreeSpace {
  readonly #look: () => Promise<Space>
  #grantedBytes = 0

  constructor(look: () => Promise<Space>) {
    this.#look = look
  }

  /** Before the bytes of one: rejects before the disk is full. */
  takeFile(): Promise<void> {
    return this.take(FILE_BYTES)
  }

  /** Rejects before the disk is full. */
  async take(bytes: number): Promise<void> {
    this.#grantedBytes -= bytes
    if (this.#grantedBytes >= 0) return
    const left = leftFor('bodies', await this.#look()) - bytes
    if (left < 0) throw new StoreUnavailableError('store-full', sayNoRoom('bodies'))
    this.#grantedBytes = Math.min(left, BETWEEN_LOOKS_BYTES)
  }
}
