import { sayProblems, type Problem } from '../check/problems.ts'
import { ResilienceError } from '../errors.ts'

/** A test that asks for something that cannot be had, or that found what it was looking for. */
export class TestingError extends ResilienceError<'invalid-options' | 'endless' | 'leaks'> {
  override get name(): string {
    return 'TestingError'
  }
}

/** Throws everything that is wrong at once; nothing when there are no problems. */
export function refuseProblems(where: string, problems: readonly Problem[]): void {
  if (problems.length > 0) throw new TestingError('invalid-options', `${where} cannot do that:${sayProblems(problems)}`)
}
