import { refuseProblems } from '../errors.ts'
import type { GateOptions } from '../gate-options.ts'
import type { Accompanied, Gate } from '../retry/companion.ts'
import { BulkheadCompanion } from './companion.ts'
import { checkBulkhead, withBulkheadDefaults, type BulkheadInput, type BulkheadPolicy } from './policy.ts'
import { Slots } from './slots.ts'

/** A bulkhead, to be created once per dependency and shared by all calls to it. */
export function createBulkhead(policy: BulkheadInput = {}, options: GateOptions = {}): Bulkhead {
  refuseProblems(checkBulkhead(policy))
  return new Bulkhead(withBulkheadDefaults(policy), options)
}

export class Bulkhead implements Gate {
  readonly name: string
  readonly #slots: Slots

  constructor(policy: BulkheadPolicy, { name = 'bulkhead' }: GateOptions, slots?: Slots) {
    this.name = name
    this.#slots = slots ?? new Slots(name, Object.freeze(policy))
  }

  /** Of all that share these slots the newest: two limits for one dependency would add up. */
  get policy(): BulkheadPolicy {
    return this.#slots.policy
  }

  /** Other numbers for the same slots and the same queue; a higher limit lets those who wait in at once. */
  under(policy: BulkheadPolicy): Bulkhead {
    this.#slots.changeTo(Object.freeze(policy))
    return new Bulkhead(policy, { name: this.name }, this.#slots)
  }

  /** Slots taken. */
  get active(): number {
    return this.#slots.running
  }

  /** Attempts that wait for a slot. */
  get queued(): number {
    return this.#slots.queued
  }

  /** Of the slots taken: held by work that was given up and has not ended. */
  get abandoned(): number {
    return this.#slots.abandoned
  }

  accompany(operation: Accompanied): BulkheadCompanion {
    return new BulkheadCompanion(this.#slots, operation)
  }
}
