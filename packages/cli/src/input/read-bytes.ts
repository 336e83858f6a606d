import { readFile } from 'node:fs/promises'
import { EXIT_CODES } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { nearest } from './nearest.ts'

interface Kind {
  /** What it is to be: a policy, a scenario. */
  readonly what: string
  /** Names that could have been meant instead of a file. */
  readonly names?: readonly string[]
}

/** Of a file, or with `-` of stdin, as they are: a signature is over bytes, and not every file is text. */
export async function readBytes(path: string, { readInput }: Pick<Terminal, 'readInput'>): Promise<Buffer> {
  return path === '-' ? readInput() : readFileBytes(path, { what: 'file' })
}

export async function readFileBytes(path: string, { what, names = [] }: Kind): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const isMissing = code === 'ENOENT'
    throw new Failure({
      code: isMissing ? 'not-found' : 'not-readable',
      what: isMissing ? `there is no ${what} ${path}` : `${path} cannot be read`,
      because: [isMissing ? sayMissing(path, names) : `${(error as Error).message}.`],
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
