import { adminKeyFileOf } from '@secondwind/service/config'
import { existsSync } from 'node:fs'
import type { GivenOptions } from '../command.ts'
import { openKeyFile } from '../remote/open-key-file.ts'
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
  if (!existsSync(path)) return []
  const open = openKeyFile(path)
  return [open === undefined ? ok('key file', `Only you can read ${path}.`) : warn('key file', open.say, open.mend)]
}
