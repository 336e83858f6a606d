import { exponential } from '../chance/draws.ts'
import { dieFor, type Die } from '../chance/streams.ts'
import type { TaskGroup } from './delivery.ts'

/** The instants at which the tasks of a group arrive, one after another. */
export class TaskSource {
  readonly #group: TaskGroup
  readonly #die: Die
  #made = 0
  #at: number

  constructor(group: TaskGroup, seed: number) {
    this.#group = group
    this.#die = dieFor(seed, `arrivals of ${group.name}`)
    this.#at = group.arrivals.fromMs ?? 0
  }

  /** Undefined when all have come. */
  next(): number | undefined {
    const { arrivals, count } = this.#group
    if (this.#made === count) return undefined
    if (this.#made++ === 0) return this.#at
    switch (arrivals.kind) {
      case 'together':
        break
      case 'constant':
        // From the beginning: a sum of many distances would drift.
        this.#at = (arrivals.fromMs ?? 0) + ((this.#made - 1) * 1_000) / arrivals.perSecond
        break
      case 'poisson':
        this.#at += exponential(1_000 / arrivals.perSecond, this.#die())
    }
    return this.#at
  }
}
