import { DEFAULT_CONFIG, readConfig, type ServiceConfig } from '@secondwind/service/config'
import { systemClock, type Problem } from '@secondwind/resilience'
import { resolve } from 'node:path'
import type { Answer, Call, Command, GivenOptions } from '../command.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { sayProblem } from '../failure.ts'
import { isOn, readOptions } from '../input/read-options.ts'
import { retyped, typed } from '../input/typed.ts'
import { connect, CONNECTION_OPTIONS, isNear } from '../remote/connection.ts'
import { SETTING_OPTIONS, settingsOf } from '../service/settings.ts'
import { strangeVariables } from '../service/strange-variables.ts'
import { labelled, type Page } from '../terminal/page.ts'
import type { Table } from '../terminal/table.ts'
import { VERSION } from '../version.ts'
import { checkDataDirectory } from './data-directory.ts'
import { bad, ok, skipped, warn, worstOf, type Finding, type Level } from './finding.ts'
import { checkKeyFiles } from './key-files.ts'
import { checkMachine } from './machine.ts'
import { checkServed, isServedBy, type Asked } from './served-by.ts'
import { checkService, type Examined } from './service.ts'

export const doctorCommand: Command = {
  path: ['doctor'],
  summary: 'looks for what would hurt: settings, machine, disk, service, policies, late and dead tasks',
  options: [
    { flag: '--strict', say: 'exit with 6 for a warning, too' },
    ...SETTING_OPTIONS,
    ...CONNECTION_OPTIONS,
    { flag: '--csv', say: 'the table as comma-separated values' },
  ],
  examples: ['doctor', 'doctor --data /var/lib/secondwind --url https://retries.internal --strict'],
  run: examine,
}

async function examine({ options }: Call): Promise<Answer> {
  const { strict } = readOptions(options, { strict: isOn })
  const read = readConfig(settingsOf(options))
  const { config, problems } = read
  const readable = read.config === undefined ? read.readable : read.config
  const url = String(options['url'] ?? process.env['SECONDWIND_URL'] ?? urlOf(readable))
  // Settings that are tried are perhaps those of a service that nobody has started yet; only a flag says that it runs.
  const mayBeAhead = options['url'] === undefined && retyped(options, SETTING_OPTIONS).length > 0
  const bind = config ? await checkBind(config) : []
  const { findings: found, instance } = await examineService(options, { url, mayBeAhead })
  const asked = { url, ...(instance !== undefined && { instance }) }
  const findings = [
    ...checkSettings(problems, bind),
    ...strangeVariables().map(say => warn('settings', say, 'secondwind serve --help')),
    ...bind,
    ...checkMachine(config),
    ...checkKeyFiles(options),
    ...(readable.store === 'sqlite' ? await checkDirectory(options, readable, asked) : []),
    ...found,
  ]
  const worst = worstOf(findings)
  const count = (level: Level): number => findings.filter(finding => finding.level === level).length
  const counts = { ok: count('ok'), warn: count('warn'), bad: count('bad'), skipped: count('skipped') }
  return {
    data: { counts, findings },
    table: tableOf(findings),
    show: page => findings.map(finding => showFinding(finding, page)).join('\n'),
    verdict: sayCounts(counts),
    exitCode: worst === 'bad' || (strict && worst === 'warn') ? EXIT_CODES.no : EXIT_CODES.done,
  }
}

function sayCounts({
  ok: good,
  warn: doubtful,
  bad: wrong,
  skipped: unseen,
}: { readonly [level in Level]: number }): string {
  return `${good} ok, ${doubtful} to look at, ${wrong} bad${unseen === 0 ? '' : `, ${unseen} skipped`}.`
}

function checkSettings(problems: readonly Problem[] | undefined, bind: readonly Finding[]): readonly Finding[] {
  if (problems === undefined) {
    const can = worstOf(bind) === 'ok' ? 'The service can be started with these settings.' : 'They can be read.'
    return [ok('settings', can)]
  }
  return problems.map(problem => bad('settings', `${sayProblem(problem)}.`, 'secondwind serve --help'))
}

/** By the rule of the service itself, which does not start for others without keys. */
async function checkBind(config: ServiceConfig): Promise<readonly Finding[]> {
  if (!isEveryAddress(config.host) && isNear(urlOf(config))) return []
  // Not before it is needed: the store is large.
  const { mayHaveKeys } = await import('@secondwind/service')
  const hasKeys = config.adminKey !== undefined || (config.store === 'sqlite' && mayHaveKeys(config.data))
  if (hasKeys) return [ok('bind', `Others can reach ${config.host}, and need a key.`)]
  const say = `Others can reach ${config.host}, and there are no keys: the service does not start like this.`
  return [bad('bind', say, 'secondwind serve --admin-key-file <file>')]
}

/** Where a service with these settings would answer: one that listens everywhere does so on this very machine, too. */
function urlOf({ host: given, port }: ServiceConfig): string {
  const host = isEveryAddress(given) ? '127.0.0.1' : given
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

function isEveryAddress(host: string): boolean {
  return ['0.0.0.0', '::'].includes(host)
}

/** Of another service than these settings would start, nobody here knows the directory unless it was named. */
async function checkDirectory(options: GivenOptions, config: ServiceConfig, asked: Asked): Promise<readonly Finding[]> {
  const { url } = asked
  const { data } = config
  const isTyped = options['data'] !== undefined
  // The disk of a service that runs elsewhere is not the one here.
  if (!isTyped && !isNear(url)) return []
  // Not before it is needed: the store is large.
  const { holdingOf } = await import('@secondwind/service')
  const directory = resolve(data)
  const holding = holdingOf(directory)
  const isNamed = isTyped || data !== DEFAULT_CONFIG.data
  const isUsual = new URL(url).origin === new URL(urlOf(config)).origin
  if (!isNamed && (!isUsual || isServedBy(asked, holding) === false))
    return [skipped('data', `Where ${url} keeps its data is not known here, and was not looked at: --data says where.`)]
  const lookAt = (holder: string): string =>
    typed(['doctor', '--data', data, ...retyped({ ...options, url: holder }, CONNECTION_OPTIONS)])
  return [...checkServed({ directory, holding, asked, lookAt }), ...(await checkDataDirectory(directory))]
}

function examineService(
  options: GivenOptions,
  { url, mayBeAhead }: Pick<Examined, 'url' | 'mayBeAhead'>,
): ReturnType<typeof checkService> {
  return checkService({
    ...connect({ ...options, url }),
    mayBeAhead,
    clock: systemClock,
    version: VERSION,
    typed: (...words) => typed([...words, ...retyped(options, CONNECTION_OPTIONS)]),
  })
}

const GLYPHS: { readonly [level in Level]: string } = { ok: '✓', warn: '!', bad: '✕', skipped: '·' }
const PAINTS = { ok: 'green', warn: 'yellow', bad: 'red', skipped: 'dim' } as const
const LABEL_WIDTH = 25

function showFinding({ level, check, say, next }: Finding, { columns, colors }: Page): string {
  const paint = colors[PAINTS[level]]
  const label = `${GLYPHS[level]} ${level.padEnd('skipped'.length)}  ${check}`
  const lines = labelled(label, say, { columns, width: LABEL_WIDTH })
  // Painted afterwards: colours have no width.
  const painted = lines.replace(/^(\S \S+)/, paint('$1'))
  return next === undefined ? painted : `${painted}\n${' '.repeat(LABEL_WIDTH)}do  ${next}`
}

function tableOf(findings: readonly Finding[]): Table {
  return {
    columns: [{ name: 'level' }, { name: 'check' }, { name: 'say', isProse: true }, { name: 'next' }],
    rows: findings.map(({ level, check, say, next = '' }) => [level, check, say, next]),
  }
}
