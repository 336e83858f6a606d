import { laneKey } from '../task/lane.ts'
import type { BreakerChanged } from './events.ts'
import type { LogOptions } from './log.ts'

const WITHIN_MS = 60_000

/** Two outages of a lane. One that fails more often says in its next line how often it did. */
const MOST_LINES = 4

/** So many have lines of their own in a minute; where the network is gone, more lines would say no more. */
const MOST_LANES = 100

interface Told {
  lines: number
  /** The newest that was held back, and how many were. */
  latest: BreakerChanged | undefined
  untold: number
}

/**
 * Lines for breakers that open and close: of each lane `MOST_LINES` in a minute, of `MOST_LANES` lanes. When it is over, a
 * lane that has changed since says how it stands, so that its last line is never a wrong one, and one more line says how
 * many changes of other lanes are missing.
 */
export class BreakerLog {
  readonly #options: LogOptions
  readonly #told = new Map<string, Told>()
  #others = 0

  constructor(options: LogOptions) {
    this.#options = options
  }

  tell(change: BreakerChanged): void {
    if (this.#told.size === 0) void this.#beginAnew()
    const told = this.#toldOf(laneKey(change))
    if (told === undefined) this.#others++
    else if (told.lines < MOST_LINES) {
      told.lines++
      this.#write(change, 0)
    } else {
      told.latest = change
      told.untold++
    }
  }

  #toldOf(lane: string): Told | undefined {
    let told = this.#told.get(lane)
    if (told === undefined && this.#told.size < MOST_LANES)
      this.#told.set(lane, (told = { lines: 0, latest: undefined, untold: 0 }))
    return told
  }

  async #beginAnew(): Promise<void> {
    const { clock, signal, log } = this.#options
    // A service that stops writes the rest at once.
    await clock.sleep(WITHIN_MS, signal).catch(() => undefined)
    const [all, others] = [[...this.#told.values()], this.#others]
    this.#told.clear()
    this.#others = 0
    for (const { latest, untold } of all) if (latest !== undefined) this.#write(latest, untold - 1)
    if (others > 0)
      log.warn(
        { code: 'breakers-more', count: others },
        `${others} times more a breaker of another lane opened or closed`,
      )
  }

  #write({ phase, ...fields }: BreakerChanged, repeats: number): void {
    const { log } = this.#options
    const line = { ...fields, ...(repeats > 0 && { repeats }) }
    switch (phase) {
      case 'open':
        return log.warn(line, 'breaker opened')
      case 'closed':
        return log.info(line, 'breaker closed')
    }
  }
}
