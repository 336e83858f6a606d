import { farSlot, type Whereabouts } from './whereabouts.ts'

/**
 * Events that do not come soon, in piles without an order. A pile is a chain of small blocks, which go to other piles
 * when they are empty: the memory follows what is set, not how unevenly.
 */
export class FarEvents {
  size = 0
  readonly #where: Whereabouts
  /** By slot, which is a block and a place in it: instant and order side by side, and the id. */
  #keys = new Float64Array(2 * FIRST_BLOCKS * BLOCK)
  #ids = new Int32Array(FIRST_BLOCKS * BLOCK)
  /** By block: the one before it in its pile, or the next free one. */
  #before = new Int32Array(FIRST_BLOCKS)
  /** By pile: behind its last slot. */
  readonly #ends: Int32Array
  readonly #counts: Int32Array
  #blocks = 0
  #freeBlock = NONE

  constructor(where: Whereabouts, piles: number) {
    this.#where = where
    this.#ends = new Int32Array(piles)
    this.#counts = new Int32Array(piles)
  }

  countOf(pile: number): number {
    return this.#counts[pile]!
  }

  /** How far the events of a pile are from an instant. Counted anew: a sum that is kept up loses its last digits. */
  meanMsFrom(pile: number, instant: number): number {
    const count = this.#counts[pile]!
    let sum = 0
    let slot = this.#ends[pile]! - 1
    for (let left = count; left > 0; left--) {
      sum += this.#keys[2 * slot]! - instant
      slot = (slot & BLOCK_MASK) === 0 ? lastSlotOf(this.#before[slot >> BLOCK_BITS]!) : slot - 1
    }
    return sum / count
  }

  atOf(slot: number): number {
    return this.#keys[2 * slot]!
  }

  add(pile: number, id: number, at: number, order: number): void {
    const count = this.#counts[pile]!++
    const slot = (count & BLOCK_MASK) === 0 ? this.#takeBlock(pile, count) : this.#ends[pile]!
    this.#ends[pile] = slot + 1
    this.#write(slot, id, at, order)
    this.size++
  }

  /** The last one of the pile takes its slot. */
  remove(pile: number, slot: number): void {
    const last = this.#ends[pile]! - 1
    if (slot !== last) this.#write(slot, this.#ids[last]!, this.#keys[2 * last]!, this.#keys[2 * last + 1]!)
    this.#dropLast(pile, last)
  }

  /** Hands out everything in a pile. */
  empty(pile: number, take: (id: number, at: number, order: number) => void): void {
    while (this.#counts[pile]! > 0) {
      const last = this.#ends[pile]! - 1
      this.#dropLast(pile, last)
      take(this.#ids[last]!, this.#keys[2 * last]!, this.#keys[2 * last + 1]!)
    }
  }

  #write(slot: number, id: number, at: number, order: number): void {
    this.#keys[2 * slot] = at
    this.#keys[2 * slot + 1] = order
    this.#ids[slot] = id
    this.#where.of[id] = farSlot(slot)
  }

  #dropLast(pile: number, last: number): void {
    this.size--
    this.#counts[pile]!--
    this.#ends[pile] = last
    if ((last & BLOCK_MASK) !== 0) return
    const block = last >> BLOCK_BITS
    this.#ends[pile] = lastSlotOf(this.#before[block]!) + 1
    this.#before[block] = this.#freeBlock
    this.#freeBlock = block
  }

  /** Its first slot. */
  #takeBlock(pile: number, count: number): number {
    let block = this.#freeBlock
    if (block !== NONE) this.#freeBlock = this.#before[block]!
    else {
      if (this.#blocks === this.#before.length) this.#grow()
      block = this.#blocks++
    }
    this.#before[block] = count === 0 ? NONE : (this.#ends[pile]! - 1) >> BLOCK_BITS
    return block << BLOCK_BITS
  }

  #grow(): void {
    const blocks = 2 * this.#before.length
    this.#keys = copied(this.#keys, new Float64Array(2 * blocks * BLOCK))
    this.#ids = copied(this.#ids, new Int32Array(blocks * BLOCK))
    this.#before = copied(this.#before, new Int32Array(blocks))
  }
}

/** Large enough to be read in one go, and small enough that one event alone does not hold much. */
const BLOCK_BITS = 4
const BLOCK: number = 1 << BLOCK_BITS
const BLOCK_MASK = BLOCK - 1
const FIRST_BLOCKS = 256
const NONE = -1

function lastSlotOf(block: number): number {
  return ((block + 1) << BLOCK_BITS) - 1
}

function copied<Numbers extends Float64Array | Int32Array>(from: Numbers, to: Numbers): Numbers {
  to.set(from)
  return to
}
