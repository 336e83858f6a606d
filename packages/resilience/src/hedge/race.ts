import type { Failure } from '../classify/outcome.ts'
import { NOT_ARMED, type Alarm, type Clock } from '../ports/clock.ts'
import { presentContext, runIn } from '../ports/context.ts'
import { safely, type Companion } from '../retry/companion.ts'
import type { Attempt } from '../retry/options.ts'
import { isThenable } from '../retry/thenable.ts'
import { Copy } from './copy.ts'
import type { HedgeAnswer, HedgedAttempt } from './decide.ts'

/** What a race asks of whoever let it begin. */
export interface Organiser<T> {
  readonly clock: Clock
  readonly mayHedge: (attempt: HedgedAttempt, now: number) => HedgeAnswer
  /** A place for one more copy, paid for; undefined when there is none. */
  readonly admit: (now: number) => Companion | undefined
  /** What a copy brought; undefined: a success. */
  readonly judge: (returned: boolean, what: unknown) => Failure | undefined
  readonly succeeded: (durationMs: number) => void
  /** A returned value that nobody will see: its resources can go. */
  readonly discard: ((value: unknown) => void) | undefined
  readonly call: (attempt: Attempt) => T | PromiseLike<T>
  readonly attempt: Attempt
}

/**
 * One attempt as a race: its first call, and later copies of it while none has answered. The first success wins and the
 * others are cancelled. A copy that fails for good ends the race too, for the others would hear the same; one that fails
 * in passing leaves it to those still under way.
 */
export class Race<T> implements Alarm {
  dueAt = 0
  slot: number = NOT_ARMED
  readonly promise: Promise<T>
  readonly #organiser: Organiser<T>
  readonly #context = presentContext()
  readonly #running = new Set<Copy>()
  readonly #first: Copy
  #resolve!: (value: T) => void
  #reject!: (error: unknown) => void
  #extraCalls = 0
  #latestAt: number
  #notBefore: number | undefined = undefined
  #isOver = false

  constructor(organiser: Organiser<T>) {
    this.#organiser = organiser
    this.#latestAt = organiser.clock.monotonic()
    this.#first = new Copy(organiser.attempt, this.#latestAt)
    this.promise = new Promise<T>((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#start(this.#first)
    this.#askAgain(this.#latestAt)
  }

  ring(): void {
    runIn(this.#context, () => {
      try {
        this.#askAgain(this.#organiser.clock.monotonic())
      } catch (error) {
        this.#crash(error)
      }
    })
  }

  /** Its result does not count any more, or is known: no further copies, and those under way are told. */
  end(reason: unknown): void {
    this.#isOver = true
    this.#organiser.clock.disarm(this)
    for (const copy of this.#running) {
      copy.cancel(reason)
      copy.companion?.over?.(undefined)
    }
  }

  #askAgain(now: number): void {
    if (this.#isOver) return
    const { attempt, clock } = this.#organiser
    const answer = this.#organiser.mayHedge(
      {
        extraCalls: this.#extraCalls,
        latestAt: this.#latestAt,
        endsAt: now + attempt.remainingMs,
        ...(this.#notBefore === undefined ? {} : { notBefore: this.#notBefore }),
      },
      now,
    )
    if (answer.kind === 'no') return
    if (answer.kind === 'wait') {
      this.dueAt = answer.at
      return clock.arm(this)
    }
    const companion = this.#organiser.admit(now)
    if (companion === undefined) return
    this.#extraCalls++
    this.#latestAt = now
    this.#start(new Copy(attempt, now, companion))
    this.#askAgain(now)
  }

  #start(copy: Copy): void {
    this.#running.add(copy)
    copy.companion?.started?.()
    let result: T | PromiseLike<T>
    try {
      result = this.#organiser.call(copy)
      if (!isThenable(result)) return this.#onEnd(copy, true, result)
    } catch (error) {
      return this.#onEnd(copy, false, error)
    }
    // Whatever it is, a promise of ours settles once, and later.
    Promise.resolve(result).then(
      value => this.#onEnd(copy, true, value),
      (error: unknown) => this.#onEnd(copy, false, error),
    )
  }

  #onEnd(copy: Copy, returned: boolean, what: unknown): void {
    this.#running.delete(copy)
    copy.letGo()
    const comesTooLate = this.#isOver
    try {
      if (!comesTooLate) this.#take(copy, returned, what)
      else if (returned) this.#organiser.discard?.(what)
    } catch (error) {
      this.#crash(error)
    }
    if (copy.companion !== undefined) {
      if (!comesTooLate) safely.over(copy.companion, undefined)
      safely.workEnded(copy.companion)
    }
    // Nobody waits for it any more, but whoever holds a place for the attempt must hear that it has really ended.
    if (this.#isOver && this.#running.size === 0) this.#reject(LOST)
  }

  #take(copy: Copy, returned: boolean, what: unknown): void {
    const { clock, succeeded, judge } = this.#organiser
    const now = clock.monotonic()
    const failed = judge(returned, what)
    const durationMs = now - copy.startedAt
    copy.companion?.ended?.({
      outcome: failed ?? { kind: 'success' },
      durationMs,
      elapsedMs: durationMs,
      error: returned ? undefined : what,
      returned: returned && failed !== undefined,
    })
    if (failed?.retryAfterMs !== undefined) this.#notBefore = now + failed.retryAfterMs
    if (failed !== undefined && failed.fault !== 'permanent' && this.#running.size > 0) {
      if (returned) this.#organiser.discard?.(what)
      return
    }
    if (failed === undefined) succeeded(durationMs)
    this.#leavePlaceTo(copy)
    this.end(LOST)
    if (returned) this.#resolve(what as T)
    else this.#reject(what)
  }

  /** A gate, a budget or a judgement threw: that is the attempt's end, and the caller's to know. */
  #crash(error: unknown): void {
    this.end(error)
    this.#reject(error)
  }

  /** The first call's place is given back with the race: if it goes on, it needs that of the copy that has ended it. */
  #leavePlaceTo(winner: Copy): void {
    if (!this.#running.has(this.#first)) return
    this.#first.companion = winner.companion
    winner.companion = undefined
  }
}

const LOST = /* @__PURE__ */ Object.assign(new Error('another copy of this call has answered'), { name: 'AbortError' })
