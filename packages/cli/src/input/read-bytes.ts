import { readFile } from 'node:fs/promises'
import { Failure } from '../failure.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Of a file as they are: a signature is over bytes, and not every file is text. `-` is a text from stdin. */
export async function readBytes(path: string, { readInput }: Pick<Terminal, 'readInput'>): Promise<Buffer> {
  if (path === '-') return Buffer.from(await readInput())
  try {
    return await readFile(path)
  } catch (error) {
    throw new Failure({
      code: 'not-readable',
      what: `${path} cannot be read`,
      because: [`${(error as Error).message}.`],
      so: 'Nothing was sent.',
    })
  }
}
