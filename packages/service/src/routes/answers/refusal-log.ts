import type { Clock } from '@secondwind/resilience'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { holderOf, NOBODY } from '../requests/holder.ts'
import type { Refusal } from './refusal.ts'

/** Enough to see who knocks, and from a few lines of them what for. */
const MOST_LINES = 10
const WITHIN_MS = 1_000

/**
 * Lines for refusals. Of callers that showed no good key, who may ask as often as they like, there are `MOST_LINES` in a
 * second; when it is over, one more says how many are missing. Nobody fills the disk by being refused.
 */
export class RefusalLog {
  readonly #clock: Clock
  readonly #closed = new AbortController()
  #lines = 0
  #untold = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  tell({ status, message }: Refusal, { caller, log }: FastifyRequest, line: object): void {
    if (holderOf(caller) === NOBODY && !this.#hasLine(log)) return
    if (status >= 500) log.error({ ...line, detail: message }, 'refused')
    else log.info(line, 'refused')
  }

  close(): void {
    this.#closed.abort()
  }

  #hasLine(log: FastifyBaseLogger): boolean {
    if (this.#lines === 0) void this.#beginAnew(log)
    if (this.#lines < MOST_LINES) {
      this.#lines++
      return true
    }
    this.#untold++
    return false
  }

  async #beginAnew(log: FastifyBaseLogger): Promise<void> {
    // Whoever closes hears of the rest at once.
    await this.#clock.sleep(WITHIN_MS, this.#closed.signal).catch(() => undefined)
    const untold = this.#untold
    this.#lines = 0
    this.#untold = 0
    if (untold > 0)
      log.info({ code: 'refused-more', count: untold }, `${untold} more callers without a good key were refused`)
  }
}
