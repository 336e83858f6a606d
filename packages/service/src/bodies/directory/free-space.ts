import { statfs } from 'node:fs/promises'
import { StoreUnavailableError } from '../../stores/task-store.ts'

/** What a disk has, and what of it may still be written. */
export interface Space {
  readonly allBytes: number
  readonly freeBytes: number
}

/** Kept free for the tasks, which lie on the same disk: a twentieth of it, and of a large one as much as they need for hours. */
const MOST_RESERVED_BYTES = 268_435_456
const RESERVED_PART = 1 / 20

/** Looked at again after so many bytes, of all who write together. */
export const BETWEEN_LOOKS_BYTES = 4_194_304

/** Lets bodies have what tasks do not need: whoever fills the disk with them stops nobody's deliveries. */
export class FreeSpace {
  readonly #look: () => Promise<Space>
  #grantedBytes = 0

  constructor(look: () => Promise<Space>) {
    this.#look = look
  }

  /** Rejects before the disk is full. */
  async take(bytes: number): Promise<void> {
    this.#grantedBytes -= bytes
    if (this.#grantedBytes >= 0) return
    const space = await this.#look()
    const left = space.freeBytes - reservedBytes(space) - bytes
    if (left < 0)
      throw new StoreUnavailableError('store-full', 'there is no room left for bodies: the rest is kept for tasks')
    this.#grantedBytes = Math.min(left, BETWEEN_LOOKS_BYTES)
  }
}

export function reservedBytes({ allBytes }: Space): number {
  return Math.min(allBytes * RESERVED_PART, MOST_RESERVED_BYTES)
}

export async function spaceAt(directory: string): Promise<Space> {
  const { bsize, blocks, bavail } = await statfs(directory)
  return { allBytes: blocks * bsize, freeBytes: bavail * bsize }
}
