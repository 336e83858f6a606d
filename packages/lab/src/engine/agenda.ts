/**
 * What happens next. Each event is an id and an instant, and each id is in it at most once, so that a time-out can be
 * moved or taken out instead of being left behind.
 *
 *   set ──► far ─────────────► near ──► next
 *            │ piles of time    ▲ a heap, in order
 *            ▼                  │
 *           later ──────────────┘ spread over the piles when these are used up
 *
 *  1. What was set first comes first among equals.
 *  2. While few events wait, all of them are near. Of many, only those that come soon are kept in order, in a heap that
 *     stays in the cache; most time-outs are taken back while they are far, where that costs next to nothing.
 *  3. Ids are small numbers, handed out again when free: the memory follows what is under way.
 */
import { FarEvents } from './far-events.ts'
import { NearEvents } from './near-events.ts'
import { farSlot, isNear, NOWHERE, Whereabouts } from './whereabouts.ts'

/** So many that of a million events a thousand are near, and so few that their ends stay in the cache. */
const PILES = 1_024
/** The piles are as wide as it takes for all but a few of the events that are known to find a place in them. */
const MEANS_AHEAD = 4
/** A heap of so many still fits into the cache. */
const FEW = 8_192

export class Agenda {
  readonly #few: number
  readonly #where = new Whereabouts()
  readonly #near = new NearEvents(this.#where)
  readonly #far = new FarEvents(this.#where, PILES + 2)
  /** When the first pile begins. */
  #from = 0
  /** 0 while all are near: then every instant belongs to the first pile. */
  #pilesPerMs = 0
  /** Up to this pile all is near. */
  #pile = 0
  /** The pile for everything after the last; there are two, of which one is spread while the other is filled. */
  #later = PILES
  #nextOrder = 0

  constructor(few: number = FEW) {
    this.#few = few
  }

  /** The instant of the latest event that came. */
  get at(): number {
    return this.#near.at
  }

  get size(): number {
    return this.#near.size + this.#far.size
  }

  /** Events that were ever set, moved ones each time. */
  get setEver(): number {
    return this.#nextOrder
  }

  /** The event is to come at this instant, now or later, wherever it was before. */
  set(id: number, at: number): void {
    this.#where.makeRoomFor(id)
    const where = this.#where.of[id]!
    const order = this.#nextOrder++
    const pile = this.#pileOf(at)
    if (pile > this.#pile) {
      if (where !== NOWHERE) this.#remove(where)
      this.#far.add(pile, id, at, order)
    } else if (isNear(where)) this.#near.move(where, id, at, order)
    else {
      if (where !== NOWHERE) this.#remove(where)
      this.#near.add(id, at, order)
      if (this.#pilesPerMs === 0 && this.#near.size > this.#few) this.#partWithFar()
    }
  }

  /** The event is not to come. */
  clear(id: number): void {
    this.#where.makeRoomFor(id)
    const where = this.#where.of[id]!
    if (where === NOWHERE) return
    this.#where.of[id] = NOWHERE
    this.#remove(where)
  }

  /** The id of the event that comes next, at `this.at`; −1 when nothing does. */
  next(): number {
    let id = this.#near.next()
    while (id < 0 && this.#far.size > 0) {
      this.#approach()
      id = this.#near.next()
    }
    return id
  }

  #remove(where: number): void {
    if (isNear(where)) return this.#near.remove(where)
    const slot = farSlot(where)
    this.#far.remove(this.#pileOf(this.#far.atOf(slot)), slot)
  }

  /** They have become too many for one heap. */
  #partWithFar(): void {
    this.#near.empty(this.#addLater)
    this.#spreadLater()
  }

  /** The next pile that is not empty becomes near. */
  #approach(): void {
    while (this.#pile < PILES - 1) {
      const pile = ++this.#pile
      if (this.#far.countOf(pile) > 0) return this.#far.empty(pile, this.#addNear)
    }
    if (this.#far.size > this.#few / 2) return this.#spreadLater()
    this.#pilesPerMs = 0
    this.#pile = 0
    this.#far.empty(this.#later, this.#addNear)
  }

  #spreadLater(): void {
    const later = this.#later
    const meanMs = this.#far.meanMsFrom(later, this.at)
    this.#from = this.at
    // The first of them is no later than their mean: it finds a pile. Where all are due now, one pile is enough.
    this.#pilesPerMs = meanMs > 0 ? Math.min(PILES / (MEANS_AHEAD * meanMs), Number.MAX_VALUE) : 1
    this.#pile = -1
    this.#later = later === PILES ? PILES + 1 : PILES
    this.#far.empty(later, this.#addFar)
  }

  readonly #addNear = (id: number, at: number, order: number): void => this.#near.add(id, at, order)

  readonly #addLater = (id: number, at: number, order: number): void => this.#far.add(this.#later, id, at, order)

  readonly #addFar = (id: number, at: number, order: number): void => this.#far.add(this.#pileOf(at), id, at, order)

  /** Never less for a later instant: that is all the order that piles have. */
  #pileOf(at: number): number {
    const pile = (at - this.#from) * this.#pilesPerMs
    return pile < PILES ? Math.trunc(pile) : this.#later
  }
}
