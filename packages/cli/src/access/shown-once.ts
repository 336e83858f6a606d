/** What is shown once: on stdout, or into a new file that only its owner can read. */
import { existsSync } from 'node:fs'
import type { Answer, GivenOptions, Option } from '../command.ts'
import { usageFailure } from '../failure.ts'
import { readOptions } from '../input/read-options.ts'
import { outputPath } from '../output/output-file.ts'

export const WRITE_OPTION: Option = {
  flag: '--write <file>',
  say: 'write it to a new file that only you can read, and show it nowhere',
}

/** Before anything is made: what could not be written would be lost. */
export function placeFor(options: GivenOptions): string | undefined {
  const { write } = readOptions(options, { write: outputPath })
  if (write !== undefined && existsSync(write))
    throw usageFailure({
      code: 'file-exists',
      what: `${write} is there already`,
      because: ['A secret is not written over another.'],
    })
  return write
}

interface ShownOnce {
  /** All that there is to know, but the secret. */
  readonly data: object
  readonly field: 'key' | 'secret'
  readonly secret: string
  readonly place: string | undefined
}

export function answerOnce({
  data,
  field,
  secret,
  place,
}: ShownOnce): Pick<Answer, 'data' | 'show' | 'word' | 'files'> {
  if (place === undefined) return { data: { ...data, [field]: secret }, show: () => secret, word: secret }
  return {
    data,
    show: () => `the ${field} is in ${place}`,
    files: [{ path: place, content: () => `${secret}\n`, isNew: true, isSecret: true }],
  }
}
