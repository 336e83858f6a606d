import type { Problem } from '@secondwind/resilience'
import { EXIT_CODES, type ExitCode } from './exit-codes.ts'

interface FailureParts {
  readonly code: string
  /** What did not work, in one line. */
  readonly what: string
  /** The facts that are known. */
  readonly because: readonly string[]
  /** What that means for the user's work. */
  readonly so: string
  /** What to type; it works when pasted. */
  readonly next?: readonly string[]
  readonly problems?: readonly Problem[]
  readonly exitCode?: ExitCode
}

/** Why a command did not do what it was asked for: what, because, so, and what to do next. */
export class Failure extends Error {
  readonly parts: FailureParts & { readonly exitCode: ExitCode }

  constructor(parts: FailureParts) {
    super(parts.what)
    this.parts = { exitCode: EXIT_CODES.failed, ...parts }
  }
}

/** Nothing was done, because of what was asked. */
export function usageFailure(parts: Omit<FailureParts, 'exitCode' | 'so'>): Failure {
  return new Failure({ so: 'Nothing was run.', ...parts, exitCode: EXIT_CODES.usage })
}

/** Every problem of a document or of the options, at once. */
export function problemsFailure(
  { code, what, next = [] }: Pick<FailureParts, 'code' | 'what' | 'next'>,
  problems: readonly Problem[],
): Failure {
  return usageFailure({ code, what, because: problems.map(sayProblem), problems, next })
}

function sayProblem({ at, is, say }: Problem): string {
  const shown = is === undefined ? '' : ` (is ${JSON.stringify(is)?.slice(0, 80)})`
  return `${at || 'the document'} ${say}${shown}`
}

export function describeFailure({ parts }: Failure): string {
  const { code, what, because, so, next = [] } = parts
  return [
    `error ${code}  ${what}`,
    '',
    ...because.map(line => `  ${line}`),
    `  ${so}`,
    ...next.map((line, index) => `  ${index === 0 ? 'do ' : '   '}  ${line}`),
    '',
  ].join('\n')
}

/** The same for programs. */
export function failureDocument({ parts }: Failure): object {
  const { code, what, because, so, next = [], problems } = parts
  return { error: { code, what, because, so, next, ...(problems === undefined ? {} : { problems }) } }
}
