import type { Problem } from '@secondwind/resilience'
import { EXIT_CODES, type ExitCode } from './exit-codes.ts'
import { visible } from './terminal/visible.ts'

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

  /** The same; with this to type, where there is nothing better. */
  withNext(line: string): Failure {
    const { next = [] } = this.parts
    return next.length > 0 ? this : new Failure({ ...this.parts, next: [line] })
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
  const tellable = problems.map(problem => ({ ...problem, is: writable(problem.is) }))
  return usageFailure({ code, what, because: tellable.map(sayProblem), problems: tellable, next })
}

/** What `make` gives for each; the problems of all those for which it fails stand in one failure, each with its name. */
export async function eachWithoutProblem<Item, Value>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
  make: (item: Item) => Value | Promise<Value>,
): Promise<Value[]> {
  const values: Value[] = []
  const refused: { readonly name: string; readonly failure: Failure; readonly problems: readonly Problem[] }[] = []
  for (const item of items)
    try {
      values.push(await make(item))
    } catch (failure) {
      // Without problems there is nothing that could be added up.
      if (!(failure instanceof Failure && failure.parts.problems)) throw failure
      refused.push({ name: nameOf(item), failure, problems: failure.parts.problems })
    }
  const [first] = refused
  if (first === undefined) return values
  // What all of them have in common is said once, and so is what the only one has.
  const isCommon = refused.every(({ failure }) => failure.parts.because.join() === first.failure.parts.because.join())
  if (isCommon) throw first.failure
  throw problemsFailure(
    { code: first.failure.parts.code, what: `${refused.length} of ${items.length} have problems` },
    refused.flatMap(({ name, problems }) => problems.map(problem => ({ ...problem, at: `${name}: ${problem.at}` }))),
  )
}

/** What nobody expected: the place is for whoever mends it. */
export function bugFailure(error: unknown): Failure {
  const { stack = '' } = error instanceof Error ? error : {}
  const [what = '', ...places] = stack.split('\n').map(line => line.trim())
  return new Failure({
    code: 'bug',
    what: what || String(error),
    because: places.slice(0, BUG_PLACES),
    so: 'This is an error of the program and not of yours: trust nothing that it said.',
    next: ['secondwind --version'],
  })
}

const BUG_PLACES = 3

export function sayProblem({ at, is, say }: Problem): string {
  const shown = is === undefined ? '' : ` (is ${JSON.stringify(is)?.slice(0, 80)})`
  return `${at || 'the document'} ${say}${shown}`
}

/** What is nested too deeply to be read is nested too deeply to be written, too. */
function writable(value: unknown): unknown {
  try {
    JSON.stringify(value)
    return value
  } catch {
    return 'nested too deeply to be shown'
  }
}

/** More facts than that are a log; `--json` has them all. */
const MOST_FACTS = 20

export function describeFailure({ parts }: Failure): string {
  const { code, what, because, so, next = [] } = parts
  const left = because.length - MOST_FACTS
  return [
    `error ${visible(code)}  ${visible(what)}`,
    '',
    ...because.slice(0, MOST_FACTS).map(line => `  ${visible(line)}`),
    ...(left > 0 ? [`  and ${left.toLocaleString('en')} more; --json lists them all`] : []),
    `  ${visible(so)}`,
    ...next.map((line, index) => `  ${index === 0 ? 'do ' : '   '}  ${visible(line)}`),
    '',
  ].join('\n')
}

/** The same for programs. */
export function failureDocument({ parts }: Failure): object {
  const { code, what, because, so, next = [], problems } = parts
  return { error: { code, what, because, so, next, ...(problems === undefined ? {} : { problems }) } }
}
