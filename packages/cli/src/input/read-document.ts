import { readFile } from 'node:fs/promises'
import { EXIT_CODES } from '../exit-codes.ts'
import { Failure, usageFailure } from '../failure.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** What was named on the command line: JSON as it stands, `-` for stdin, or else the path of a file. */
export async function readDocument(
  named: string,
  what: string,
  { readInput }: Pick<Terminal, 'readInput'>,
): Promise<unknown> {
  if (named.trimStart().startsWith('{')) return parse(named, what, 'the command line')
  if (named === '-') return parse(await readInput(), what, 'stdin')
  return parse(await readText(named, what), what, named)
}

async function readText(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const isMissing = code === 'ENOENT'
    throw new Failure({
      code: isMissing ? 'not-found' : 'not-readable',
      what: isMissing ? `there is no ${what} ${path}` : `${path} cannot be read`,
      because: [isMissing ? `${path} is no file here.` : (error as Error).message],
      so: 'Nothing was run.',
      exitCode: isMissing ? EXIT_CODES.notFound : EXIT_CODES.failed,
    })
  }
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
