import { warnOnce, type Telemetry } from '../ports/telemetry.ts'

/** A program that sets up clients and tries each of them once has fewer. */
const SUSPICIOUS_STREAK = 20

/** How often one fetch was called. */
export interface Uses {
  count: number
}

/** Notices when each fetch is thrown away after one call: made anew for every call, it cannot learn anything. */
export class Instances {
  #newest: Uses = { count: 0 }
  #usedOnce = 0

  /** Another one was created; the answer is its counter. */
  add(telemetry?: Telemetry): Uses {
    this.#usedOnce = this.#newest.count === 1 ? this.#usedOnce + 1 : 0
    if (this.#usedOnce === SUSPICIOUS_STREAK) warnOnce('policy-per-call', 'createFetch', SAY_PER_CALL, telemetry)
    return (this.#newest = { count: 0 })
  }
}

const SAY_PER_CALL =
  `the last ${SUSPICIOUS_STREAK} fetches made by createFetch were each called once. A fetch that is created for every ` +
  'call never learns how long its calls take: create it once, outside of the function that calls it'
