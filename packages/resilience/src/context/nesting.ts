import { deadline } from '../deadline/deadline.ts'
import { RefusedError } from '../errors.ts'
import { warnOnce } from '../ports/telemetry.ts'
import type { Accompanied, Companion, Gate } from '../retry/companion.ts'
import type { Attempt } from '../retry/options.ts'
import { runAmid, surroundings } from './surroundings.ts'

/**
 * Goes along with every operation: it ends with what it is a part of, tells its own parts so, and leaves repeating to
 * whoever is further out. Three attempts at each of three levels would be twenty-seven calls.
 */
export const nesting: Gate = {
  accompany(operation: Accompanied): Companion {
    const { deadline: inherited, repeatedBy } = surroundings()
    if (inherited !== undefined)
      operation.deadlineAt = Math.min(operation.deadlineAt, operation.startedAt + inherited.remainingMs)
    return new NestingCompanion(operation, repeatedBy)
  },
}

class NestingCompanion implements Companion {
  readonly #operation: Accompanied
  readonly #repeatedBy: string | undefined

  constructor(operation: Accompanied, repeatedBy: string | undefined) {
    this.#operation = operation
    this.#repeatedBy = repeatedBy
  }

  around<R>(call: (attempt: Attempt) => R, attempt: Attempt): R {
    const { name, setup } = this.#operation
    // One that has a single attempt repeats nothing; what is inside of it may be repeated further out all the same.
    const repeatedBy = setup.policy.maxAttempts > 1 ? name : this.#repeatedBy
    return runAmid({ deadline: deadline({ inMs: attempt.remainingMs }, setup.clock), repeatedBy }, () => call(attempt))
  }

  mayRetry(): RefusedError | undefined {
    const { name, call, setup } = this.#operation
    if (this.#repeatedBy === undefined || call.nested === 'allow') return undefined
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
