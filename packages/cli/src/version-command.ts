import type { Command } from './command.ts'
import { VERSION } from './version.ts'

/** A command like any other, so that programs can ask for it, too: `--version` is another way to type it. */
export const versionCommand: Command = {
  path: ['version'],
  summary: 'the version of this program',
  examples: ['version'],
  run: () => ({ data: { version: VERSION }, word: VERSION, show: () => VERSION }),
}
