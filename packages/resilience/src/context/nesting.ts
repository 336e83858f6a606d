import { deadline } from '../deadline/deadline.ts'
import { RefusedError } from '../errors.ts'
import { warnOnce } from '../ports/telemetry.ts'
import type { Accompanied, Companion, EndedAttempt, Gate } from '../retry/companion.ts'
import type { Attempt } from '../retry/options.ts'
import { runAmid, surroundings } from './surroundings.ts'

/**
 * Goes along with every operation: it ends with what it is a part of, tells its own parts so, and leaves repeating to
 * whoever is further out. Three attempts at each of three levels would be twenty-seven calls.
 */
export const nesting: Gate = {
  accompany(operation: Accompanied): Companion {
    const { deadline: inherited, repeatedBy, isRepeatedHere = false } = surroundings()
    if (inherited !== undefined)
      operation.deadlineAt = Math.min(operation.deadlineAt, operation.startedAt + inherited.remainingMs)
    return new NestingCompanion(operation, repeatedBy, isRepeatedHere)
  },
}

class NestingCompanion implements Companion {
  readonly #operation: Accompanied
  readonly #repeatedBy: string | undefined

  readonly #isRepeatedHere: boolean
  #returnedFailure = false

  constructor(operation: Accompanied, repeatedBy: string | undefined, isRepeatedHere: boolean) {
    this.#operation = operation
    this.#repeatedBy = repeatedBy
    this.#isRepeatedHere = isRepeatedHere
  }

  around<R>(call: (attempt: Attempt) => R, attempt: Attempt): R {
    const { name, setup } = this.#operation
    // One that has a single attempt repeats nothing; what is inside of it may be repeated further out all the same.
    const repeatedBy = setup.policy.maxAttempts > 1 ? name : this.#repeatedBy
    const isRepeatedHere = this.#repeatedBy === undefined || this.#isRepeatedHere
    const own = deadline({ inMs: attempt.remainingMs }, setup.clock)
    return runAmid({ deadline: own, repeatedBy, isRepeatedHere }, () => call(attempt))
  }

  ended({ returned }: EndedAttempt): void {
    this.#returnedFailure = returned
  }

  mayRetry(): RefusedError | undefined {
    const { name, call, setup } = this.#operation
    if (this.#repeatedBy === undefined || call.nested === 'allow') return undefined
    // A response that failed is returned, and whoever is further out is content with it: nobody else would repeat it.
    if (this.#returnedFailure && this.#isRepeatedHere) return undefined
    const say = sayNested(name, this.#repeatedBy)
    warnOnce('nested', name, say, setup.options.telemetry)
    return new RefusedError('nested', say)
  }
}

function sayNested(name: string, repeatedBy: string): string {
  return `${name} failed and was not retried, for ${repeatedBy} will call it again: together they would multiply. Choose one:
  retry at one level only       usually the outermost, which knows how long somebody waits
  nested: 'allow'               both are meant, and the dependency can bear the product`
}
