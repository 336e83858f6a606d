import type { Outcome } from '../classify/outcome.ts'
import type { Clock } from '../ports/clock.ts'
import type { RefusedError } from '../errors.ts'
import type { GiveUpReason } from './decide.ts'
import type { Attempt } from './options.ts'

/**
 * What stands beside operations: a breaker, a bulkhead, a kill switch, a tracer. It meets each operation through a
 * companion of its own, so that what belongs to one operation is never kept in what all of them share.
 */
export interface Gate {
  accompany(operation: Accompanied): Companion
}

/** An operation, as those who go along with it see it. */
export interface Accompanied {
  readonly name: string
  /** One number per operation, given when somebody goes along. */
  id: number
  /** Attempts begun so far. */
  readonly attempts: number
  readonly startedAt: number
  /** On the clock of `startedAt`; may be drawn nearer while `accompany` is called. */
  deadlineAt: number | undefined
  /** The clock of the operation. */
  readonly clock: Clock
  /** Asks every gate again, before the wait that one of them asked for is over. */
  askAgain(): void
  /** Ends an operation that waits, for an attempt or for a gate; one that is calling goes on. */
  refuse(refusal: RefusedError): void
}

/** Goes along with one operation, from before its first attempt until after its end. */
export interface Companion {
  /**
   * Before every attempt: nothing, and it may begin; an error, and the operation ends; an instant, and it waits until
   * then to ask again. After such a wait all companions are asked anew, also those that let it pass.
   */
  enter?(now: number): RefusedError | number | undefined
  /** Makes the call, for whoever wants something to be around it. */
  around?<R>(call: () => R, attempt: Attempt): R
  started?(): void
  /** The result of an attempt counts, and is this. */
  ended?(ended: EndedAttempt): void
  /** The work of an attempt has really ended, perhaps long after its result ceased to count. */
  workEnded?(): void
  /** An attempt failed and could be followed by another: an error, and it is not, and nobody waits in vain. */
  mayRetry?(): RefusedError | undefined
  waits?(wait: Wait): void
  /** The operation is over: well when there is no reason. Work that was given up may still be going on. */
  over?(end: End | undefined): void
  /** `onExhausted` threw, and the error it was to replace is thrown after all. */
  hookFailed?(error: unknown): void
}

export interface EndedAttempt {
  readonly outcome: Outcome
  readonly durationMs: number
  /** Since the operation began. */
  readonly elapsedMs: number
  readonly error: unknown
}

export interface Wait {
  readonly delayMs: number
  readonly outcome: Outcome
}

export interface End {
  readonly reason: GiveUpReason
  readonly elapsedMs: number
  readonly error: unknown
}

/** Several as one, in their order. */
class Companions implements Companion {
  readonly #members: readonly Companion[]

  constructor(members: readonly Companion[]) {
    this.#members = members
  }

  enter(now: number): RefusedError | number | undefined {
    for (const member of this.#members) {
      const answer = member.enter?.(now)
      if (answer !== undefined) return answer
    }
    return undefined
  }

  around<R>(call: () => R, attempt: Attempt): R {
    const surrounded = this.#members.reduceRight<() => R>(
      (inner, member) => (member.around === undefined ? inner : () => member.around!(inner, attempt)),
      call,
    )
    return surrounded()
  }

  started(): void {
    for (const member of this.#members) member.started?.()
  }

  ended(ended: EndedAttempt): void {
    for (const member of this.#members) member.ended?.(ended)
  }

  workEnded(): void {
    for (const member of this.#members) member.workEnded?.()
  }

  mayRetry(): RefusedError | undefined {
    for (const member of this.#members) {
      const refusal = member.mayRetry?.()
      if (refusal !== undefined) return refusal
    }
    return undefined
  }

  waits(wait: Wait): void {
    for (const member of this.#members) member.waits?.(wait)
  }

  over(end: End | undefined): void {
    for (const member of this.#members) member.over?.(end)
  }

  hookFailed(error: unknown): void {
    for (const member of this.#members) member.hookFailed?.(error)
  }
}

let operations = 0

/** Whom every operation of the process has with it; undefined when there is nobody. */
let everywhere: readonly Gate[] | undefined

/** Goes along with every operation of the process that begins from now on, until the returned function is called. */
export function accompanyAll(gate: Gate): () => void {
  everywhere = [...(everywhere ?? []), gate]
  return () => {
    const others = everywhere?.filter(other => other !== gate)
    everywhere = others?.length ? others : undefined
  }
}

/** Those of the process, then an operation's own; undefined when there is nobody. */
export function companionsOf(operation: Accompanied, gates: readonly Gate[] | undefined): Companion | undefined {
  if (gates === undefined && everywhere === undefined) return undefined
  operation.id = ++operations
  const members = [...(everywhere ?? []), ...(gates ?? [])].map(gate => gate.accompany(operation))
  return members.length === 1 ? members[0] : new Companions(members)
}
