import type { Outcome } from '../classify/outcome.ts'
import type { Clock } from '../ports/clock.ts'
import type { RefusedError } from '../errors.ts'
import { complain, type Telemetry } from '../ports/telemetry.ts'
import type { GiveUpReason } from './decide.ts'
import type { Attempt, CallOptions } from './options.ts'
import type { RetryPolicy } from './policy.ts'

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
  readonly call: CallOptions
  /** All that go along with it, as one; undefined while they are being asked to. */
  readonly companion: Companion | undefined
  /** What it has in common with others: its clock, its policy, the pipeline that it belongs to and its key in there. */
  readonly setup: {
    readonly clock: Clock
    readonly policy: RetryPolicy
    readonly options: { readonly client?: string; readonly key?: string; readonly telemetry?: Telemetry }
  }
  /** One number per operation, given when somebody goes along. */
  id: number
  /** Attempts begun so far. */
  readonly attempts: number
  readonly startedAt: number
  /** The policy's or the caller's, on the clock of `startedAt`; may be drawn nearer while `accompany` is called. */
  deadlineAt: number
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
  /** Makes the call, for whoever wants something to be around it: with the attempt, or one of its own in its place. */
  around?<R>(call: (attempt: Attempt) => R, attempt: Attempt): R
  started?(): void
  /** The result of an attempt counts, and is this. */
  ended?(ended: EndedAttempt): void
  /** The work of an attempt has really ended, perhaps long after its result ceased to count. */
  workEnded?(): void
  /** An attempt failed and could be followed by another: an error, and it is not, and nobody waits in vain. */
  mayRetry?(): RefusedError | undefined
  /** A call is slow and could be given company: false, and it gets none. */
  mayHedge?(): boolean
  waits?(wait: Wait): void
  /** The operation stands still from now on, for its next attempt or for a gate. */
  pauses?(): void
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
  /** It was a value that was judged a failure, and not thrown: whoever is further out may take it for a success. */
  readonly returned: boolean
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

  around<R>(call: (attempt: Attempt) => R, attempt: Attempt): R {
    return this.#callWithin(0, call, attempt)
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

  mayHedge(): boolean {
    return this.#members.every(member => member.mayHedge?.() !== false)
  }

  waits(wait: Wait): void {
    for (const member of this.#members) member.waits?.(wait)
  }

  pauses(): void {
    for (const member of this.#members) member.pauses?.()
  }

  over(end: End | undefined): void {
    for (const member of this.#members) member.over?.(end)
  }

  hookFailed(error: unknown): void {
    for (const member of this.#members) member.hookFailed?.(error)
  }

  #callWithin<R>(place: number, call: (attempt: Attempt) => R, attempt: Attempt): R {
    for (; place < this.#members.length; place++) {
      const inner = place + 1
      const member = this.#members[place]!
      if (member.around !== undefined) return member.around(own => this.#callWithin(inner, call, own), attempt)
    }
    return call(attempt)
  }
}

let operations = 0

const COMPANION = 'one that goes along with operations'

/** Who is only told something must not change what becomes of the operation: its error goes where such errors go. */
export const safely = {
  ended(companion: Companion, ended: EndedAttempt): void {
    try {
      companion.ended?.(ended)
    } catch (error) {
      complain(COMPANION, error)
    }
  },
  workEnded(companion: Companion): void {
    try {
      companion.workEnded?.()
    } catch (error) {
      complain(COMPANION, error)
    }
  },
  over(companion: Companion, end: End | undefined): void {
    try {
      companion.over?.(end)
    } catch (error) {
      complain(COMPANION, error)
    }
  },
}

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
  if (everywhere === undefined && gates?.length === 1) return gates[0]!.accompany(operation)
  const members: Companion[] = []
  for (const gate of [...(everywhere ?? []), ...(gates ?? [])]) members.push(gate.accompany(operation))
  return together(members)
}

export function together(members: readonly Companion[]): Companion {
  return members.length === 1 ? members[0]! : new Companions(members)
}
