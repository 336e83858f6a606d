import { readConfig } from '@secondwind/service/config'
import type { Answer, Call, Command } from '../command.ts'
import { Failure, problemsFailure } from '../failure.ts'
import { typed } from '../input/typed.ts'
import { settingsOf, SETTING_OPTIONS } from './settings.ts'

const OPTIONS = SETTING_OPTIONS.filter(({ flag }) => /^--(?:data|config) /.test(flag))

export const backupCommand: Command = {
  path: ['backup'],
  summary: 'a copy of the data directory, made while the service runs',
  arguments: [{ usage: '<directory>', say: 'where the copy is made; there must be nothing yet' }],
  options: OPTIONS,
  examples: ['backup ./backup-2026-11-16', 'backup --data /var/lib/secondwind /var/backups/secondwind-1'],
  run: backUpAs,
}

async function backUpAs({ args, options }: Call): Promise<Answer> {
  const to = args[0] as string
  const { config, problems = [] } = readConfig(settingsOf(options))
  if (config === undefined) throw problemsFailure({ code: 'wrong-setting', what: 'nothing can be copied' }, problems)
  const { data } = config
  // Not before it is needed: no other command should wait until a whole server has been read.
  const { backUp } = await import('@secondwind/service')
  try {
    await backUp({ data, to })
  } catch (error) {
    throw asFailure(error, data)
  }
  return {
    data: { data, backup: to },
    show: () => `${to} holds what ${data} does; it was checked, and nobody else can read it`,
    next: [typed(['serve', '--data', to, '--port', '0'])],
  }
}

/** What the disk says, and what the store says of it. */
function asFailure(error: unknown, data: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException
  if (typeof code !== 'string' || !/^(?:store-|E[A-Z]+$)/.test(code)) return error
  return new Failure({
    code: code.startsWith('store-') ? code : 'not-writable',
    what: `${data} cannot be copied`,
    because: [`${message}.`],
    so: 'There is no copy, and the data is as it was.',
  })
}
