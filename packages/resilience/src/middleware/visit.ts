import { deadline, type Deadline } from '../deadline/deadline.ts'
import { NOT_ARMED, type Alarm, type Clock } from '../ports/clock.ts'
import { presentContext, runIn } from '../ports/context.ts'
import { runAmid, type Surroundings } from '../context/surroundings.ts'
import { lessonOf, type RefusalCode } from './decide.ts'
import type { Guest, Room } from './room.ts'

/** What a handler can know of the request it works on. */
export interface Arrival {
  /** Undefined when nobody named one. */
  readonly deadline: Deadline | undefined
  /** Aborts at the deadline, and when the caller goes away. Made when it is read. */
  readonly signal: AbortSignal
  /** The caller has made this call before. */
  readonly isRepeated: boolean
}

/** How a framework goes on with a request, and how it does not. */
export interface Ways {
  readonly enter: () => void
  readonly refuse: (code: RefusalCode) => void
}

export interface VisitOptions {
  readonly room: Room | undefined
  readonly clock: Clock
  readonly timeMs: number | undefined
  readonly isRepeated: boolean
  readonly ways: Ways
}

const visits = new WeakMap<object, Visit>()

export function visitOf(request: object): Visit | undefined {
  return visits.get(request)
}

/** What is known of a request: Node's own object (`request.raw` of fastify), or `c.req.raw` of hono. */
export function arrivalOf(request: object): Arrival | undefined {
  return visitOf(request)
}

/**
 * One request.
 *
 *   begin ──► queued ──► inside ──► ended
 *     │ └───────┼──────────▲
 *     └─────────┴──► refused
 *
 *  1. Exactly one of the two ways is taken, unless the caller goes away while it waits.
 *  2. Whatever happens, `end` leaves nothing behind: no slot, no place in the queue, no alarm.
 */
export class Visit implements Guest, Arrival {
  dueAt = 0
  slot: number = NOT_ARMED
  behind: Alarm | undefined = undefined
  readonly deadline: Deadline | undefined
  readonly isRepeated: boolean
  readonly #options: VisitOptions
  /** Whoever leaves the room lets the next one in: that one goes on in its own context. */
  readonly #context = presentContext()
  #controller: AbortController | undefined = undefined
  #isEnded = false
  /** Why the signal is aborted, also one that is first read afterwards. */
  #gone: Error | undefined = undefined

  /** `request` is the object that handlers have of it. */
  constructor(request: object, options: VisitOptions) {
    visits.set(request, this)
    const { timeMs, clock, isRepeated } = options
    this.#options = options
    this.deadline = timeMs === undefined ? undefined : deadline({ inMs: timeMs }, clock)
    this.isRepeated = isRepeated
  }

  get remainingMs(): number {
    return this.deadline?.remainingMs ?? Infinity
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = (this.#controller = new AbortController())
      const ends = this.deadline?.signal
      if (this.#gone !== undefined) controller.abort(this.#gone)
      else if (ends?.aborted) controller.abort(ends.reason)
      else ends?.addEventListener('abort', () => controller.abort(ends.reason), { once: true })
    }
    return this.#controller.signal
  }

  begin(): void {
    const { room } = this.#options
    if (this.remainingMs === 0) this.#refuse('deadline')
    else if (room === undefined) this.enter()
    else if (!room.ask(this)) this.#refuse('throttled')
  }

  enter(): void {
    runIn(this.#context, () => this.within(this.#options.ways.enter))
  }

  /** The wait for a slot is over. */
  ring(): void {
    runIn(this.#context, () => this.#refuse(this.remainingMs === 0 ? 'deadline' : 'throttled'))
  }

  /** In the surroundings of this request: for frameworks that lose them on the way. */
  within<R>(work: () => R): R {
    const around: Surroundings = {
      deadline: this.deadline,
      repeatedBy: this.isRepeated ? 'the caller of this process' : undefined,
    }
    return runAmid(around, work)
  }

  /** It was answered; or the caller went away, and nobody needs an answer. */
  end(status: number | undefined): void {
    if (this.#isEnded) return
    this.#isEnded = true
    if (status === undefined) this.#leave()
    this.#options.room?.leave(this, lessonOf({ status, remainingMs: this.deadline?.remainingMs }))
    this.deadline?.release()
  }

  #leave(): void {
    this.#gone = new Error('the caller of the request went away')
    this.#controller?.abort(this.#gone)
  }

  #refuse(code: RefusalCode): void {
    const { room, ways } = this.#options
    room?.leave(this, 'none')
    ways.refuse(code)
  }
}
