import { usageFailure } from '../failure.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { readFileBytes } from './read-bytes.ts'

type Kind = Parameters<typeof readFileBytes>[1]

/** What was named on the command line: JSON as it stands, `-` for stdin, or else the path of a file. */
export async function readDocument(
  named: string,
  kind: Kind,
  { readInput }: Pick<Terminal, 'readInput'>,
): Promise<unknown> {
  if (isPath(named)) return parse(String(await readFileBytes(named, kind)), kind.what, named)
  return named === '-'
    ? parse(String(await readInput()), kind.what, 'stdin')
    : parse(named, kind.what, 'the command line')
}

/** Neither stdin nor the document itself. */
export function isPath(named: string): boolean {
  return named !== '-' && !named.trimStart().startsWith('{')
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
