/** Copies of the data directory: made while the service runs, and looked at without starting one. */
import type { BackupReading } from '@secondwind/service'
import { readConfig } from '@secondwind/service/config'
import { constants } from 'node:fs'
import { join } from 'node:path'
import type { Answer, Call, Command } from '../command.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { Failure, problemsFailure } from '../failure.ts'
import { retyped, typed } from '../input/typed.ts'
import { freePath } from '../output/output-file.ts'
import { sayBytes } from '../output/say-bytes.ts'
import { sayInstant } from '../output/say-time.ts'
import { ofTenant, whoseFlag } from '../remote/whose.ts'
import { closedToUs } from './closed-to-us.ts'
import { settingsOf, SETTING_OPTIONS } from './settings.ts'

const OPTIONS = SETTING_OPTIONS.filter(({ flag }) => /^--(?:data|config) /.test(flag))

const makeCommand: Command = {
  path: ['backup'],
  summary: 'a copy of the data directory, made while the service runs',
  arguments: [{ usage: '<directory>', say: 'where the copy is made; there must be nothing yet' }],
  options: OPTIONS,
  examples: ['backup ./backup-2026-11-16', 'backup --data /var/lib/secondwind /var/backups/secondwind-1'],
  run: backUpAs,
}

const checkCommand: Command = {
  path: ['backup', 'check'],
  summary: 'what is in a copy, and whether it is whole; nothing is sent, and nothing written',
  arguments: [{ usage: '<directory>', say: 'where the copy is' }],
  examples: ['backup check ./backup-2026-11-16'],
  run: check,
}

export const BACKUP: readonly Command[] = [makeCommand, checkCommand]

async function backUpAs({ args, options }: Call): Promise<Answer> {
  const to = args[0] as string
  const { config, problems = [] } = readConfig(settingsOf(options))
  if (config === undefined) throw problemsFailure({ code: 'wrong-setting', what: 'nothing can be copied' }, problems)
  const { data } = config
  // Not before it is needed: no other command should wait until a whole server has been read.
  const { backUp } = await import('@secondwind/service')
  try {
    const reading = await backUp({ data, to })
    const { unsound } = reading.bodies
    return {
      data: { data, backup: to, isWhole: isWhole(reading), ...reading },
      show: () => `${to} holds what ${data} does; it was checked, and nobody else can read it`,
      ...(unsound.length > 0 && { verdict: `It is not whole, for ${data} is not: ${sayUnsound(reading)}` }),
      // No start of a service: it would send what waits a second time, and change the copy.
      next: [...putAgain(reading), typed(['backup', 'check', to])],
      ...(!isWhole(reading) && { exitCode: EXIT_CODES.no }),
    }
  } catch (error) {
    const line = (place: string): string => typed(['backup', ...retyped(options, OPTIONS), place])
    throw asFailure(error, {
      what: `${data} cannot be copied`,
      so: 'There is no copy, and the data is as it was.',
      again: line(freePath(to)),
      from: data,
      line: line(to),
    })
  }
}

async function check({ args }: Call): Promise<Answer> {
  const directory = args[0] as string
  const { checkBackup } = await import('@secondwind/service')
  try {
    return answerOf(directory, await checkBackup(directory))
  } catch (error) {
    throw asFailure(error, {
      what: `${directory} is no copy that could be restored`,
      so: 'Nothing was written.',
      from: directory,
      line: typed(['backup', 'check', directory]),
    })
  }
}

function answerOf(directory: string, reading: BackupReading): Answer {
  const { tasks, lastAt, format, dataBytes, bodies } = reading
  const lines = [
    ...Object.entries(tasks).map(([status, count]) => [status, String(count)]),
    ['bodies', `${bodies.needed}${sayLack('missing', bodies.missing)}${sayLack('damaged', bodies.damaged)}`],
    ['format', String(format)],
    ['size', `${sayBytes(dataBytes)}, bodies apart`],
  ] as const
  return {
    data: { backup: directory, isWhole: isWhole(reading), ...reading },
    show: ({ colors }) =>
      [
        `${colors.bold(directory)}  as of ${sayInstant(lastAt)}`,
        '',
        ...lines.map(([label, text]) => `  ${label.padEnd(LABEL_WIDTH)}${text}`),
      ].join('\n'),
    verdict: `${sayWhole(reading)} A service that is started on it sends what waits: only in the original's place.`,
    next: putAgain(reading),
    ...(!isWhole(reading) && { exitCode: EXIT_CODES.no }),
  }
}

function isWhole({ bodies }: BackupReading): boolean {
  return bodies.missing + bodies.damaged === 0
}

function sayWhole(reading: BackupReading): string {
  if (isWhole(reading)) return 'It is whole.'
  return reading.bodies.unsound.length === 0 ? 'It is not whole.' : `It is not whole: ${sayUnsound(reading)}`
}

/** So many are named; `--json` names more. */
const NAMED = 3

function sayUnsound({ bodies: { unsound, missing, damaged } }: BackupReading): string {
  const names = unsound.slice(0, NAMED).map(body => `${body.bodyRef}${ofTenant(body)} is ${body.is}`)
  const left = missing + damaged - names.length
  const more = left === 0 ? '' : `; and ${left.toLocaleString('en')} more`
  return `${names.join('; ')}${more}. Tasks that need it end with body-missing: put the same bytes, or the directory bodies, back where the service runs, and make another copy.`
}

/** Where the service runs; one line for each tenant, as the bytes of each are its own. */
function putAgain({ bodies: { unsound } }: BackupReading): readonly string[] {
  const lines = unsound.map(body => typed(['bodies', 'put', 'FILE', ...whoseFlag(body, undefined)]))
  return [...new Set(lines)].slice(0, NAMED)
}

const LABEL_WIDTH = 11

function sayLack(what: string, count: number): string {
  return count === 0 ? '' : `, ${count} ${what}`
}

interface Told {
  readonly what: string
  readonly so: string
  /** The same under a name that is free. */
  readonly again?: string
  /** What was to be read, and what was typed for it. */
  readonly from: string
  readonly line: string
}

/** What the disk says, and what the store says of it. */
function asFailure(error: unknown, { what, so, again, from, line }: Told): unknown {
  const { code, message } = error as NodeJS.ErrnoException
  if (typeof code !== 'string' || !/^(?:file-exists|not-writable|store-.+|E[A-Z]+)$/.test(code)) return error
  const isThere = code === 'file-exists'
  const closed = code === 'store-unreachable' ? closedToUs(join(from, 'tasks.db'), constants.R_OK) : undefined
  const next = isThere ? again : closed?.asOwner(line)
  return new Failure({
    code: isThere || code.startsWith('store-') ? code : 'not-writable',
    what,
    because: [
      `${message}.`,
      ...(closed === undefined ? [] : [`${closed.place} belongs to ${closed.owner}, and is closed to you.`]),
    ],
    so,
    ...(next !== undefined && { next: [next] }),
    ...(isThere && { exitCode: EXIT_CODES.usage }),
  })
}
