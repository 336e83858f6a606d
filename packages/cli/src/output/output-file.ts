import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join, parse } from 'node:path'
import { Failure } from '../failure.ts'
import type { Reader } from '../input/read-options.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** What an answer leaves behind: a picture, a report, a policy. */
export interface OutputFile {
  readonly path: string
  readonly content: () => string | Uint8Array
  /** Not written over what is there, for that could not be made again. */
  readonly isNew?: true
  /** Nobody else on this machine may read it. */
  readonly isSecret?: true
}

/** A path that can be written to, as far as can be known beforehand: nobody waits for a report that has no place. */
export const outputPath: Reader<string | undefined> = given => {
  if (given === undefined) return { value: undefined }
  if (typeof given !== 'string' || given === '') return { must: 'a file' }
  const hindrance = hindranceOf(given)
  return hindrance === undefined ? { value: given } : { must: `a file that can be written: ${hindrance}` }
}

function hindranceOf(path: string): string | undefined {
  try {
    accessSync(dirname(path), constants.W_OK)
    const there = statSync(path, { throwIfNoEntry: false })
    if (there === undefined) return undefined
    if (there.isDirectory()) return 'this is a folder'
    accessSync(path, constants.W_OK)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** The same name with the first number that nothing here has yet. */
export function freePath(path: string): string {
  const { dir, name, ext } = parse(path)
  let free = path
  for (let number = 2; existsSync(free); number++) free = join(dir, `${name}-${number}${ext}`)
  return free
}

/** The picture or report that somebody asked for, if somebody did. */
export function fileAt(path: string | undefined, content: () => string | Uint8Array): readonly OutputFile[] {
  return path === undefined ? [] : [{ path, content }]
}

/** Each in its turn, and says so; where a secret is, its answer has said. */
export async function writeFiles(files: readonly OutputFile[], { tell }: Pick<Terminal, 'tell'>): Promise<void> {
  for (const { path, content, isNew, isSecret } of files) {
    try {
      await writeFile(path, content(), { ...(isNew && { flag: 'wx' }), ...(isSecret && { mode: 0o600 }) })
    } catch (error) {
      throw notWritable(path, error as Error)
    }
    if (!isSecret) tell(`wrote ${path}\n`)
  }
}

export function notWritable(path: string, { message }: Error): Failure {
  return new Failure({
    code: 'not-writable',
    what: `${path} cannot be written`,
    because: [`${message}.`],
    so: 'What was written before is complete; this is not.',
  })
}
