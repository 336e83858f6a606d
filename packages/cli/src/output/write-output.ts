import { writeFile } from 'node:fs/promises'
import { Failure } from '../failure.ts'

/** Written over what was there: it can be made again. `flag: 'wx'` refuses that. */
export async function writeOutput(path: string, content: string, options: { flag?: 'wx' } = {}): Promise<void> {
  try {
    await writeFile(path, content, options)
  } catch (error) {
    throw new Failure({
      code: 'not-writable',
      what: `${path} cannot be written`,
      because: [`${(error as Error).message}.`],
      so: 'Its content is lost; run the command again.',
    })
  }
}
