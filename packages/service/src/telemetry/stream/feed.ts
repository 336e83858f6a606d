import { Deque } from './deque.ts'
import { dataOf, frameOf, sizeOf, type StreamEvent } from './stream-event.ts'

interface Kept {
  readonly event: StreamEvent
  readonly bytes: number
  /** As it is sent; made when the first listener needs it, and by then for all. */
  frame: string | undefined
}

/**
 * The latest events of one tenant, or of all. They are numbered by tenant: a common number would tell each how much the others do.
 *
 *   forgotten          cursor of a listener                  newest
 *       │ … kept, and heard … │ … kept, and not yet heard … │
 */
export class Feed {
  readonly tenant: string
  readonly #instance: string
  readonly #kept = new Deque<Kept>()
  /** The number of the last event; the first is 1. */
  newest = 0
  /** All that are kept together. */
  bytes = 0

  constructor(tenant: string, instance: string) {
    this.tenant = tenant
    this.#instance = instance
  }

  /** The number of the last one that is no longer here. */
  get forgotten(): number {
    return this.newest - this.#kept.size
  }

  /** How many are kept. */
  get events(): number {
    return this.#kept.size
  }

  /** Answers how many bytes more there are. */
  append(event: StreamEvent): number {
    const bytes = sizeOf(event)
    this.bytes += bytes
    this.#kept.push({ event, bytes, frame: undefined })
    this.newest++
    return bytes
  }

  /** Answers how many bytes less there are. */
  forgetOldest(): number {
    const { bytes } = this.#kept.shift()
    this.bytes -= bytes
    return bytes
  }

  eventAt(number: number): StreamEvent {
    return this.#keptAt(number).event
  }

  frameAt(number: number): string {
    const kept = this.#keptAt(number)
    kept.frame ??= frameOf(kept.event.type, this.idOf(number), dataOf(kept.event, this.tenant))
    return kept.frame
  }

  /** By which a listener that comes back says what it has heard. */
  idOf(number: number): string {
    return `${this.#instance}-${number}`
  }

  /** What an id stands for here; undefined for one that another process gave, or nobody. */
  numberOf(id: string): number | undefined {
    const [instance, number] = id.split('-')
    if (instance !== this.#instance || !/^\d{1,15}$/.test(number ?? '')) return undefined
    return Number(number) > this.newest ? undefined : Number(number)
  }

  #keptAt(number: number): Kept {
    return this.#kept.at(number - this.forgotten - 1)
  }
}
