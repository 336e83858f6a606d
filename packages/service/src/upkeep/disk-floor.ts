/**
 * A full disk stops everybody, also the operator who would make room. Therefore the service takes nothing new in while less than the floor
 * is free: no tasks, no uploads. Everything else goes on, and may write until the store itself says that the disk is full.
 */
import type { Clock } from '@secondwind/resilience'
import { statfs } from 'node:fs/promises'
import { StoreUnavailableError } from '../stores/store-errors.ts'

export interface Space {
  readonly allBytes: number
  readonly freeBytes: number
}

export interface DiskFloorOptions {
  readonly look: () => Promise<Space>
  readonly clock: Pick<Clock, 'monotonic'>
}

/** A twentieth of a small disk. On a large one 256 MiB: accepted tasks write attempts into it for hours. */
export function floorBytes(allBytes: number): number {
  return Math.min(allBytes / 20, 268_435_456)
}

/** Other programs write to the disk, too. A look costs a system call, which is too much for each request. */
const BETWEEN_LOOKS_MS = 1_000

/** Uploads of one second could fill the floor by themselves. */
const BETWEEN_LOOKS_BYTES = 4_194_304

export class DiskFloor {
  readonly #options: DiskFloorOptions
  #lookedAt = -Infinity
  /** Of uploads, since the latest look. */
  #admittedBytes = 0
  /** Absent where the disk does not answer: the store then meets what is wrong with it. */
  #space: Space | undefined
  #looking: Promise<void> | undefined

  constructor(options: DiskFloorOptions) {
    this.#options = options
  }

  /** Rejects below the floor. `bytes` are those of an upload: many of them make it look sooner. */
  async admit(bytes = 0): Promise<void> {
    this.#admittedBytes += bytes
    const problem = await this.problem()
    if (problem !== undefined) throw new StoreUnavailableError('store-full', problem)
  }

  /** Why nothing new is taken in, if so. */
  async problem(): Promise<string | undefined> {
    if (this.#isLookDue()) await (this.#looking ??= this.#look())
    return this.#space && isBelowFloor(this.#space) ? sayBelowFloor(this.#space) : undefined
  }

  #isLookDue(): boolean {
    const sinceMs = this.#options.clock.monotonic() - this.#lookedAt
    return sinceMs >= BETWEEN_LOOKS_MS || this.#admittedBytes >= BETWEEN_LOOKS_BYTES
  }

  async #look(): Promise<void> {
    const { look, clock } = this.#options
    this.#admittedBytes = 0
    this.#space = await look().catch(() => undefined)
    this.#lookedAt = clock.monotonic()
    this.#looking = undefined
  }
}

function isBelowFloor({ allBytes, freeBytes }: Space): boolean {
  return freeBytes < floorBytes(allBytes)
}

function sayBelowFloor({ allBytes }: Space): string {
  const mebibytes = Math.ceil(floorBytes(allBytes) / 1_048_576)
  return `the disk is nearly full: with less than ${mebibytes} MiB free, no tasks and no uploads are taken in; make room, and it goes on by itself`
}

/** What the disk of a data directory has, and whether a service that works there would take nothing in. */
export interface Room extends Space {
  readonly isBelowFloor: boolean
}

export async function roomAt(directory: string): Promise<Room> {
  const space = await spaceAt(directory)
  return { ...space, isBelowFloor: isBelowFloor(space) }
}

export async function spaceAt(directory: string): Promise<Space> {
  const { bsize, blocks, bavail } = await statfs(directory)
  return { allBytes: blocks * bsize, freeBytes: bavail * bsize }
}
