import { adminKeyFileOf } from '@secondwind/service/config'
import { statSync } from 'node:fs'
import type { GivenOptions } from '../command.ts'
import { quoted } from '../input/typed.ts'
import { settingsOf } from '../service/settings.ts'
import { ok, warn, type Finding } from './finding.ts'

/** Files with a key, of the service and of whoever asks: whoever reads one may do what it may. */
export function checkKeyFiles(options: GivenOptions): readonly Finding[] {
  const paths = new Set(
    [adminKeyFileOf(settingsOf(options)), options['keyFile']].filter(path => typeof path === 'string'),
  )
  return [...paths].flatMap(checkKeyFile)
}

/** One that is missing is told where it is read. */
function checkKeyFile(path: string): readonly Finding[] {
  const there = statSync(path, { throwIfNoEntry: false })
  if (there === undefined) return []
  return (there.mode & 0o077) === 0
    ? [ok('key file', `Only you can read ${path}.`)]
    : [warn('key file', `Others on this machine can read the key in ${path}.`, `chmod 600 ${quoted(path)}`)]
}
