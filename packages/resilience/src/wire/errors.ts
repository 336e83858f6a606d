import { sayProblems, type Problem } from '../check/problems.ts'
import { ResilienceError } from '../errors.ts'

/** What was passed to an adapter, or with a call, is not what the field takes; all problems at once. */
export class InvalidOptionError extends ResilienceError<'invalid-option'> {
  readonly problems: readonly Problem[]

  constructor(say: string, problems: readonly Problem[]) {
    super('invalid-option', `${say}:${sayProblems(problems)}`)
    this.problems = problems
  }

  override get name(): string {
    return 'InvalidOptionError'
  }
}

/** The call could be repeated, but its body could not: nothing was sent, for a second attempt would send nothing. */
export class NotReplayableError extends ResilienceError<'not-replayable'> {
  constructor(why: string) {
    super(
      'not-replayable',
      `${why}, but the call may be made several times. Choose one:
  body: () => makeBody()        a function that makes a new body for each attempt
  body: await text(stream)      a string, bytes or a Blob: buffered, it can be sent again
  policy: { maxAttempts: 1 }    one attempt is meant`,
    )
  }

  override get name(): string {
    return 'NotReplayableError'
  }
}
