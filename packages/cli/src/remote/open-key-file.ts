import { statSync } from 'node:fs'
import { quoted } from '../input/typed.ts'

/** A file with a key that others can read, too, and the line that mends it. */
export interface OpenKeyFile {
  readonly say: string
  readonly mend: string
}

/** Whoever reads a key may do what it may. One that is missing is told where it is read; on Windows modes say nothing. */
export function openKeyFile(path: string): OpenKeyFile | undefined {
  const there = process.platform === 'win32' ? undefined : statSync(path, { throwIfNoEntry: false })
  if (there === undefined || (there.mode & OTHERS) === 0) return undefined
  return { say: `Others on this machine can read the key in ${path}.`, mend: `chmod 600 ${quoted(path)}` }
}

/** Whatever its group or anybody else may do with it. */
const OTHERS = 0o077

/** Said on stderr, once, by whoever uses it all the same. */
export function tellOpenKeyFile(path: unknown, tell: (conversation: string) => void): void {
  const open = typeof path === 'string' ? openKeyFile(path) : undefined
  if (open !== undefined) tell(`warning: ${open.say}\n  do   ${open.mend}\n`)
}
