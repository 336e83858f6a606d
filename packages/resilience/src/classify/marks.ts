import type { Failure } from './outcome.ts'
import { failure } from './outcome.ts'

/**
 * Marks let code that knows better than any status say what its failure is: `throw transient(error)`.
 * The error itself stays untouched (same object, same class, same stack), so that callers' `catch` still works.
 */
const marks = new WeakMap<object, Failure>()

/** "Do not retry this": the same call would fail the same way. */
export function permanent<E>(error: E): E & object {
  return mark(error, failure('permanent'))
}

/** "Retry this": the failure is likely to pass by itself. */
export function transient<E>(error: E): E & object {
  return mark(error, failure('transient'))
}

/** "This says nothing about the server": not retried, and not counted by breakers and limits. */
export function ignored<E>(error: E): E & object {
  return mark(error, failure('ignored'))
}

/** "Retry this, but not before `ms` have passed." */
export function retryAfter<E>(ms: number, error: E): E & object {
  // A wait that is no number is a broken hint, not a licence to come back at once.
  return mark(error, ms >= 0 ? failure('throttled', ms) : failure('permanent'))
}

/** What somebody marked the error as, if anybody did. */
export function markOf(error: object): Failure | undefined {
  return marks.get(error)
}

function mark<E>(error: E, as: Failure): E & object {
  const marked: object = isObject(error) ? error : new Error(String(error), { cause: error })
  marks.set(marked, as)
  return marked as E & object
}

export function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}
