import type { Clock } from '@secondwind/resilience'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { holderOf, isTenant, NOBODY } from '../requests/gate.ts'
import type { Refusal } from './refusal.ts'

/** Enough to see who knocks, and from a few lines of them what for. */
const MOST_LINES = 10
const WITHIN_MS = 1_000

/** So many have lines of their own in a second; those who come later share theirs. */
const MOST_HOLDERS = 100

/** No tenant has this name. */
const OTHERS = 'OTHERS'

interface Told {
  lines: number
  untold: number
}

/**
 * Lines for refusals. Of whoever is refused, who may ask as often as it likes, there are `MOST_LINES` in a second: of each tenant, of
 * operators, and of all callers that showed no good key. When it is over, one more says how many are missing. Nobody fills the disk by
 * being refused.
 */
export class RefusalLog {
  readonly #clock: Clock
  readonly #closed = new AbortController()
  readonly #told = new Map<string, Told>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  tell({ status, message }: Refusal, { caller, log }: FastifyRequest, line: object): void {
    if (!this.#hasLine(holderOf(caller), log)) return
    if (status >= 500) log.error({ ...line, detail: message }, 'refused')
    else log.info(line, 'refused')
  }

  close(): void {
    this.#closed.abort()
  }

  #hasLine(holder: string, log: FastifyBaseLogger): boolean {
    if (this.#told.size === 0) void this.#beginAnew(log)
    const told = this.#toldOf(holder)
    if (told.lines < MOST_LINES) {
      told.lines++
      return true
    }
    told.untold++
    return false
  }

  #toldOf(holder: string): Told {
    const isOneMore = !this.#told.has(holder) && this.#told.size >= MOST_HOLDERS
    const name = isOneMore ? OTHERS : holder
    let told = this.#told.get(name)
    if (told === undefined) this.#told.set(name, (told = { lines: 0, untold: 0 }))
    return told
  }

  async #beginAnew(log: FastifyBaseLogger): Promise<void> {
    // Whoever closes hears of the rest at once.
    await this.#clock.sleep(WITHIN_MS, this.#closed.signal).catch(() => undefined)
    const all = [...this.#told]
    this.#told.clear()
    for (const [holder, { untold }] of all)
      if (untold > 0)
        log.info(
          { code: 'refused-more', count: untold, ...(isOfOne(holder) && { tenant: holder }) },
          `${untold} more requests of ${sayHolder(holder)} were refused`,
        )
  }
}

function isOfOne(holder: string): boolean {
  return isTenant(holder) && holder !== OTHERS
}

function sayHolder(holder: string): string {
  if (holder === NOBODY) return 'callers without a good key'
  if (holder === OTHERS) return 'other tenants'
  return isTenant(holder) ? holder : 'operators'
}
