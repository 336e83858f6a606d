import { drawsOf, type Draw } from '../chance/draws.ts'
import { dieFor, type Die } from '../chance/streams.ts'
import { DEFAULT_DELIVERY, type Destination, type DestinationLimit } from './delivery.ts'

export interface Response {
  /** Absent where none ever comes. */
  readonly status?: number
  readonly retryAfterMs?: number
  readonly afterMs: number
}

/** What the destination sees of a task. */
export interface Request {
  /** The first is 1. */
  readonly attempt: number
  readonly failFirst: number
}

const SILENCE: Response = { afterMs: Infinity }
const DOWN = 503
const DONE = 200

/** Answers requests in the order of their instants. */
export class ScriptedDestination {
  readonly #destination: Destination
  readonly #latency: Draw
  readonly #errorLatency: Draw
  readonly #errorDie: Die
  readonly #burst: number
  #room: number
  #countedAt = 0

  constructor(destination: Destination, seed: number) {
    const { latencyMs = DEFAULT_DELIVERY.latencyMs, errorMs = latencyMs, limit } = destination
    const latencyDie = dieFor(seed, 'latency')
    this.#destination = destination
    this.#latency = drawsOf(latencyMs, latencyDie)
    this.#errorLatency = drawsOf(errorMs, latencyDie)
    this.#errorDie = dieFor(seed, 'errors')
    this.#burst = limit === undefined ? 0 : burstOf(limit)
    this.#room = this.#burst
  }

  answer({ attempt, failFirst }: Request, now: number): Response {
    const { errorRate = 0, limit, troubles = [] } = this.#destination
    const trouble = troubles.find(({ fromMs, untilMs }) => fromMs <= now && now < untilMs)
    if (trouble?.kind === 'hanging') return SILENCE
    if (trouble?.kind === 'down') return this.#failure(DOWN)
    if (limit !== undefined && !this.#hasRoom(limit.perSecond, now)) {
      const { status = DEFAULT_DELIVERY.limitStatus, retryAfterMs } = limit
      return this.#failure(status, retryAfterMs)
    }
    const isUnlucky = errorRate > 0 && this.#errorDie() < errorRate
    if (attempt <= failFirst || isUnlucky) return this.#failure(DOWN)
    return { status: DONE, afterMs: this.#latency() }
  }

  #failure(status: number, retryAfterMs?: number): Response {
    const response = { status, afterMs: this.#errorLatency() }
    return retryAfterMs === undefined ? response : { ...response, retryAfterMs }
  }

  #hasRoom(perSecond: number, now: number): boolean {
    this.#room = Math.min(this.#burst, this.#room + ((now - this.#countedAt) * perSecond) / 1_000)
    this.#countedAt = now
    if (this.#room < 1) return false
    this.#room--
    return true
  }
}

function burstOf({ perSecond, burst }: DestinationLimit): number {
  return burst ?? Math.max(1, Math.floor(perSecond * DEFAULT_DELIVERY.burstSeconds))
}
