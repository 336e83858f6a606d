import { readFile } from 'node:fs/promises'
import { EXIT_CODES } from '../exit-codes.ts'
import { Failure, usageFailure } from '../failure.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { nearest } from './nearest.ts'

interface Kind {
  /** What it is to be: a policy, a scenario. */
  readonly what: string
  /** Names that could have been meant instead of a file. */
  readonly names?: readonly string[]
}

/** What was named on the command line: JSON as it stands, `-` for stdin, or else the path of a file. */
export async function readDocument(
  named: string,
  kind: Kind,
  { readInput }: Pick<Terminal, 'readInput'>,
): Promise<unknown> {
  if (isPath(named)) return parse(await readText(named, kind), kind.what, named)
  return named === '-' ? parse(await readInput(), kind.what, 'stdin') : parse(named, kind.what, 'the command line')
}

/** Neither stdin nor the document itself. */
export function isPath(named: string): boolean {
  return named !== '-' && !named.trimStart().startsWith('{')
}

async function readText(path: string, { what, names = [] }: Kind): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const isMissing = code === 'ENOENT'
    throw new Failure({
      code: isMissing ? 'not-found' : 'not-readable',
      what: isMissing ? `there is no ${what} ${path}` : `${path} cannot be read`,
      because: [isMissing ? sayMissing(path, names) : (error as Error).message],
      so: 'Nothing was run.',
      exitCode: isMissing ? EXIT_CODES.notFound : EXIT_CODES.failed,
    })
  }
}

function sayMissing(path: string, names: readonly string[]): string {
  const meant = nearest(path, names)
  if (meant !== undefined) return `${path} is no file here; did you mean ${meant}?`
  return names.length === 0 ? `${path} is no file here.` : `${path} is no file here, and none of ${names.join(', ')}.`
}

function parse(json: string, what: string, from: string): unknown {
  try {
    // Some editors begin a file with a byte order mark, which is no JSON.
    return JSON.parse(json.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw usageFailure({
      code: 'no-json',
      what: `the ${what} from ${from} is no JSON`,
      because: [`${(error as Error).message}.`],
    })
  }
}
