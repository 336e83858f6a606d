import { sayProblems, show, type Problem } from './check/problems.ts'

/**
 * What the library itself refuses. What the caller's work threw leaves untouched; these appear only where there is
 * no such error. Each `code` has its paragraph in docs/errors.md; names are written out, for minifiers shorten those of
 * classes.
 */
export class ResilienceError<Code extends string = string> extends Error {
  readonly code: Code

  constructor(code: Code, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }

  override get name(): string {
    return 'ResilienceError'
  }
}

/** A document that cannot be kept to; all of its problems at once. */
export class InvalidPolicyError extends ResilienceError<'invalid-policy'> {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super('invalid-policy', `the document cannot be kept:${sayProblems(problems)}`)
    this.problems = problems
  }

  override get name(): string {
    return 'InvalidPolicyError'
  }
}

/** For whoever is given a document: all of its problems, if it has any. */
export function refuseProblems(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new InvalidPolicyError(problems)
}

/** Something that the caller brought along answered with what it may not: a guess could let everything through. */
export class InvalidAnswerError extends ResilienceError<'invalid-answer'> {
  constructor(who: string, answer: unknown, wanted: string) {
    super('invalid-answer', `${who} returned ${show(answer)}; it must return ${wanted}`)
  }

  override get name(): string {
    return 'InvalidAnswerError'
  }
}

/** One call took longer than `attemptTimeoutMs`; others may follow. */
export class AttemptTimeoutError extends ResilienceError<'attempt-timeout'> {
  constructor(attempt: number, ms: number) {
    super('attempt-timeout', `attempt ${attempt} did not end within ${Math.round(ms)} ms`)
  }

  override get name(): string {
    return 'AttemptTimeoutError'
  }
}

/** The deadline passed while a call was running, or before the first; `cause` is how the call before it failed. */
export class DeadlineError extends ResilienceError<'deadline'> {
  constructor(attempt = 0, ms = 0, cause?: unknown) {
    const when =
      attempt === 0 ? 'had passed before attempt 1' : `passed during attempt ${attempt}, after ${Math.round(ms)} ms`
    super('deadline', `the deadline ${when}`, cause)
  }

  override get name(): string {
    return 'DeadlineError'
  }
}

/** Which gate; `throttled` is any of those that keep a load within its limits. */
export type Refusal = 'breaker-open' | 'budget' | 'throttled' | 'killed' | 'nested'

/** A gate is shut: nothing was sent. */
export class RefusedError extends ResilienceError<Refusal> {
  /** When asking again makes sense; undefined when nobody knows. */
  readonly retryAfterMs: number | undefined

  constructor(code: Refusal, message: string, retryAfterMs?: number) {
    super(code, message)
    this.retryAfterMs = retryAfterMs
  }

  override get name(): string {
    return 'RefusedError'
  }
}
