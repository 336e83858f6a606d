/**
 * When to look at many tasks again: after something has happened, as the stream of events tells. Where there is no stream,
 * or not yet, every so often.
 */
import type { TaskFilter } from '@secondwind/client'
import type { RemoteCall } from '../remote/remote-command.ts'

/** Between two looks, however much happens. */
const LEAST_MS = 250
/** The stream tells of one instance; others may do something, too. */
const MOST_MS = 30_000
/** Once a second it says how many tasks there are: after a few silences whoever tells it is perhaps away. */
const SILENCE_MS = 3_000

export class Changes {
  readonly #clock: RemoteCall['clock']
  readonly #everyMs: number
  readonly #left = new AbortController()
  #isHeard = false
  #heardAt = 0
  #hasChanged = false
  #wake: () => void = () => undefined

  constructor({ client, clock }: Pick<RemoteCall, 'client' | 'clock'>, filter: TaskFilter, everyMs: number) {
    this.#clock = clock
    this.#everyMs = everyMs
    void this.#listen(client, filter)
  }

  /** Until something has happened, or might have. */
  async next(signal: AbortSignal | undefined): Promise<void> {
    if (this.#isHeard) await this.#clock.sleep(Math.min(LEAST_MS, this.#everyMs), signal)
    if (!this.#hasChanged) await this.#quiet(signal)
    this.#hasChanged = false
  }

  leave(): void {
    this.#left.abort()
  }

  /** Ends early when something happens. */
  async #quiet(signal: AbortSignal | undefined): Promise<void> {
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    const until = AbortSignal.any([woken.signal, ...(signal === undefined ? [] : [signal])])
    const sleep = (ms: number): Promise<void> =>
      this.#clock.sleep(ms, until).catch((error: unknown) => {
        if (!woken.signal.aborted) throw error
      })
    if (!this.#isHeard) return sleep(this.#everyMs)
    for (let leftMs = MOST_MS; leftMs > 0 && !woken.signal.aborted && this.#isHeard; leftMs -= SILENCE_MS) {
      await sleep(SILENCE_MS)
      this.#isHeard &&= this.#clock.monotonic() - this.#heardAt < SILENCE_MS
    }
  }

  async #listen(client: RemoteCall['client'], { destination }: TaskFilter): Promise<void> {
    const filter = { types: ['task', 'counters'] as const, ...(destination !== undefined && { destination }) }
    try {
      for await (const { type } of client.events(filter, { signal: this.#left.signal })) {
        // What happened before the first word of the stream nobody has told.
        if (type !== 'counters' || !this.#isHeard) this.#changed()
        this.#isHeard = true
        this.#heardAt = this.#clock.monotonic()
      }
    } catch {
      // A stream that is refused, or gone, is replaced by looking now and then.
      this.#isHeard = false
      this.#wake()
    }
  }

  #changed(): void {
    this.#hasChanged = true
    this.#wake()
  }
}
