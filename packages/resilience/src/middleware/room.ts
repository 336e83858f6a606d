import { admit, mayLeaveQueue, waitEndsAt, type BulkheadCounts } from '../bulkhead/decide.ts'
import type { BulkheadPolicy } from '../bulkhead/policy.ts'
import { nextLimit, wholeLimit } from '../limiter/decide.ts'
import type { LimiterPolicy } from '../limiter/policy.ts'
import { startLimit, type LimitState } from '../limiter/state.ts'
import type { Alarm, Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'

/** Somebody at the door. Its alarm is the end of its wait. */
export interface Guest extends Alarm {
  readonly remainingMs: number
  /** Called at once, or when it is this guest's turn. */
  enter(): void
}

/** So many at a time, so many more in a queue: first come, first served. */
export class Room {
  readonly #bulkhead: BulkheadPolicy
  readonly #limiter: LimiterPolicy | undefined
  readonly #limits: LimitState | undefined
  readonly #clock: Clock
  readonly #random: Random
  readonly #queue = new Set<Guest>()
  /** Those inside, with what they began with. */
  readonly #inside = new Map<Guest, { readonly startedAt: number; readonly inFlight: number }>()

  constructor(bulkhead: BulkheadPolicy, limiter: LimiterPolicy | undefined, clock: Clock, random: Random) {
    this.#bulkhead = bulkhead
    this.#limiter = limiter
    this.#limits = limiter && startLimit(limiter)
    this.#clock = clock
    this.#random = random
  }

  get counts(): BulkheadCounts {
    return { running: this.#inside.size, queued: this.#queue.size }
  }

  get limit(): number {
    return Math.min(this.#bulkhead.limit, this.#limits ? wholeLimit(this.#limits) : Infinity)
  }

  /** False: there is no room, and none to wait in. */
  ask(guest: Guest): boolean {
    const answer = admit(this.#policy, this.counts)
    if (answer === 'start') this.#start(guest)
    if (answer !== 'queue') return answer === 'start'
    const now = this.#clock.monotonic()
    guest.dueAt = waitEndsAt(this.#bulkhead, { now, deadlineAt: now + guest.remainingMs })
    this.#queue.add(guest)
    this.#clock.arm(guest)
    return true
  }

  /** Out of the room, or out of the queue. */
  leave(guest: Guest, lesson: 'good' | 'dropped' | 'none'): void {
    this.#clock.disarm(guest)
    const visit = this.#inside.get(guest)
    if (!this.#queue.delete(guest) && visit === undefined) return
    this.#inside.delete(guest)
    if (visit !== undefined && lesson !== 'none') this.#learn(visit, lesson === 'dropped')
    for (let next = this.#next(); next !== undefined; next = this.#next()) this.#start(next)
  }

  get #policy(): BulkheadPolicy {
    return { ...this.#bulkhead, limit: this.limit }
  }

  #next(): Guest | undefined {
    const [first] = mayLeaveQueue(this.#policy, this.counts) > 0 ? this.#queue : []
    return first
  }

  #start(guest: Guest): void {
    this.#queue.delete(guest)
    this.#clock.disarm(guest)
    this.#inside.set(guest, { startedAt: this.#clock.monotonic(), inFlight: this.#inside.size + 1 })
    guest.enter()
  }

  #learn({ startedAt, inFlight }: { readonly startedAt: number; readonly inFlight: number }, dropped: boolean): void {
    if (this.#limiter === undefined) return
    const durationMs = this.#clock.monotonic() - startedAt
    nextLimit(this.#limiter, this.#limits!, { durationMs, inFlight, dropped, roll: this.#random() })
  }
}
