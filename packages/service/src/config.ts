/**
 * How a service is set up: flags before the environment, the environment before the file. Every problem of every source
 * is reported at once, under the name that its author typed.
 */
import { check } from '@secondwind/resilience/rules'
import type { Problem } from '@secondwind/resilience'
import { readFileSync } from 'node:fs'
import { readKey } from './access/key-ring.ts'
import { DEFAULT_LIMITS } from './routes/context.ts'
import { wrongAllowTargets } from './targets/allow-target.ts'

export interface ServiceConfig {
  readonly host: string
  readonly port: number
  /** The directory of the embedded store. */
  readonly data: string
  readonly store: StoreKind
  /** Requests under way at once. */
  readonly concurrency: number
  /** Tasks that may wait, over all tenants. */
  readonly backlog: number
  /** Requests that bring tasks, over all tenants; absent: as many as come. */
  readonly intakePerSecond?: number
  /** Connections that callers may hold at once; absent: as many as the process's descriptors leave room for. */
  readonly connections?: number
  /** Targets inside that may be called all the same: hosts, host:port, CIDR. */
  readonly allowTarget: readonly string[]
  /** A key with which everything may be done, so that others can be made. */
  readonly adminKey?: string
}

export type StoreKind = (typeof STORE_KINDS)[number]

export const STORE_KINDS = ['sqlite', 'memory'] as const

/** One setting: a flag, a variable `SECONDWIND_…`, and a field of the file, all of one name. */
export interface Setting {
  readonly name: string
  readonly usage: string
  readonly say: string
  readonly isList?: true
  readonly choices?: readonly string[]
}

export const DEFAULT_CONFIG: ServiceConfig = {
  host: '127.0.0.1', // nobody else can reach it until somebody decides so
  port: 4747,
  data: './data',
  store: 'sqlite',
  concurrency: 100, // what one core sends without falling behind
  backlog: DEFAULT_LIMITS.backlog.total,
  allowTarget: [],
}

export const SETTINGS: readonly Setting[] = [
  {
    name: 'host',
    usage: '<address>',
    say: `the address to listen on (${DEFAULT_CONFIG.host}); others than loopback need keys`,
  },
  { name: 'port', usage: '<number>', say: `the port to listen on (${DEFAULT_CONFIG.port}); 0 takes a free one` },
  { name: 'data', usage: '<directory>', say: `where tasks are kept (${DEFAULT_CONFIG.data})` },
  { name: 'store', usage: '<kind>', say: `what keeps them (${DEFAULT_CONFIG.store})`, choices: STORE_KINDS },
  { name: 'concurrency', usage: '<number>', say: `requests under way at once (${DEFAULT_CONFIG.concurrency})` },
  { name: 'backlog', usage: '<number>', say: `tasks that may wait, over all tenants (${DEFAULT_CONFIG.backlog})` },
  {
    name: 'intake-rate',
    usage: '<number>',
    say: 'requests a second that bring tasks, over all tenants (as many as come)',
  },
  {
    name: 'connections',
    usage: '<number>',
    say: "connections of callers at once (half of the process's file descriptors, 10000 at most)",
  },
  {
    name: 'allow-target',
    usage: '<host>',
    say: 'a target inside that may be called: a host, host:port or CIDR; repeated, or with commas between',
    isList: true,
  },
  {
    name: 'admin-key-file',
    usage: '<file>',
    say: 'a file with a key for everything: at least 32 characters, in one line',
  },
]

/** The file itself is named by a flag or a variable only. */
export const CONFIG_SETTING: Setting = {
  name: 'config',
  usage: '<file>',
  say: 'a JSON file with these names, without the dashes in front',
}

/** What was typed, by the name of the setting. */
export type GivenSettings = { readonly [name: string]: string | readonly string[] | undefined }

export type ConfigCheck =
  | { readonly config: ServiceConfig; readonly problems?: undefined }
  | {
      readonly config?: undefined
      readonly problems: readonly Problem[]
      /** What it would be without the settings that have problems: to look at, not to start with. */
      readonly readable: ServiceConfig
    }

export function readConfig(flags: GivenSettings, environment: NodeJS.ProcessEnv = process.env): ConfigCheck {
  const file = fileOf(flags, environment)
  const problems = [...file.problems]
  const chosen: { [name: string]: unknown } = {}
  for (const setting of SETTINGS) {
    const found = find(setting, flags, environment, file)
    if (found === undefined) continue
    const read = READERS[setting.name]!(found.value)
    if ('must' in read) problems.push({ at: found.at, is: found.value, say: `must be ${read.must}` })
    else chosen[FIELDS[setting.name]!] = read.value
  }
  const readable = { ...DEFAULT_CONFIG, ...chosen }
  return problems.length > 0 ? { problems, readable } : { config: readable }
}

/** Where the key for everything is read from, whichever source says so. */
export function adminKeyFileOf(flags: GivenSettings, environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const setting = SETTINGS.find(({ name }) => name === 'admin-key-file')!
  const value = find(setting, flags, environment, fileOf(flags, environment))?.value
  return typeof value === 'string' ? value : undefined
}

export function variableOf({ name }: Setting): string {
  return `SECONDWIND_${name.replaceAll('-', '_').toUpperCase()}`
}

const FIELDS: { readonly [name: string]: keyof ServiceConfig } = {
  host: 'host',
  port: 'port',
  data: 'data',
  store: 'store',
  concurrency: 'concurrency',
  backlog: 'backlog',
  'intake-rate': 'intakePerSecond',
  connections: 'connections',
  'allow-target': 'allowTarget',
  'admin-key-file': 'adminKey',
}

interface ConfigFile {
  readonly path: string
  readonly document: { readonly [name: string]: unknown }
  readonly problems: readonly Problem[]
}

function fileOf(flags: GivenSettings, environment: NodeJS.ProcessEnv): ConfigFile {
  return readFile(flags[CONFIG_SETTING.name]?.toString() ?? environment[variableOf(CONFIG_SETTING)])
}

function readFile(path: string | undefined): ConfigFile {
  const wrong = (is: unknown, say: string): ConfigFile => ({
    path: path ?? '',
    document: {},
    problems: [{ at: path ?? '', is, say }],
  })
  if (path === undefined) return { path: '', document: {}, problems: [] }
  try {
    const document: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (!check.isRecord(document)) return wrong(document, 'must hold one JSON object with the names of the flags')
    const known = Object.fromEntries(SETTINGS.map(({ name }) => [name, () => undefined]))
    return { path, document, problems: check.checkFields(document, known, {}, `${path}: `) }
  } catch (error) {
    return wrong(undefined, `cannot be read: ${(error as Error).message}`)
  }
}

function find(
  setting: Setting,
  flags: GivenSettings,
  environment: NodeJS.ProcessEnv,
  file: ConfigFile,
): { readonly value: unknown; readonly at: string } | undefined {
  const variable = variableOf(setting)
  const fromEnvironment = environment[variable]
  const given = flags[setting.name]
  if (given !== undefined)
    return { value: setting.isList ? [given].flat().flatMap(splitList) : given, at: `--${setting.name}` }
  if (fromEnvironment !== undefined)
    return { value: setting.isList ? splitList(fromEnvironment) : fromEnvironment, at: variable }
  const fromFile = Object.hasOwn(file.document, setting.name) ? file.document[setting.name] : undefined
  return fromFile === undefined ? undefined : { value: fromFile, at: `${file.path}: ${setting.name}` }
}

function splitList(text: string): string[] {
  return text.split(',').map(part => part.trim())
}

type Reader = (given: unknown) => { readonly value: unknown } | { readonly must: string }

const READERS: { readonly [name: string]: Reader } = {
  host: given =>
    typeof given === 'string' && HOST.test(given)
      ? { value: given }
      : { must: 'an address or a name to listen on, such as 127.0.0.1 or ::' },
  port: wholeNumber(0, 65_535),
  data: given => (typeof given === 'string' && given !== '' ? { value: given } : { must: 'a directory' }),
  store: given =>
    (STORE_KINDS as readonly unknown[]).includes(given)
      ? { value: given }
      : { must: `one of ${STORE_KINDS.join(', ')}` },
  concurrency: wholeNumber(1, 10_000),
  backlog: wholeNumber(1, 1_000_000_000),
  'intake-rate': wholeNumber(1, 1_000_000),
  connections: wholeNumber(10, 1_000_000),
  'allow-target': given => {
    if (!Array.isArray(given)) return { must: 'a list of hosts, host:port or CIDR' }
    const must = wrongAllowTargets(given.map(String))
    return must === undefined ? { value: given.map(String) } : { must }
  },
  'admin-key-file': readAdminKey,
}

/** A name, an IPv4 or an IPv6 address. */
const HOST = /^[A-Za-z0-9._:-]{1,253}$/

const ADMIN_KEY = /^[\x21-\x7e]{32,512}$/

/** Its text is never said, neither in problems nor in logs. */
function readAdminKey(given: unknown): ReturnType<Reader> {
  if (typeof given !== 'string' || given === '') return { must: 'a file' }
  try {
    const key = readFileSync(given, 'utf8').trim()
    if (!ADMIN_KEY.test(key)) return { must: 'a file with 32 to 512 visible characters in one line' }
    // It would open everything for as long as the process lives, though that key were revoked, rotated or expired.
    if (readKey(key) !== undefined)
      return { must: 'a file with a text of its own, not with a key that a service has made' }
    return { value: key }
  } catch (error) {
    return { must: `a file that can be read (${(error as NodeJS.ErrnoException).code ?? 'unreadable'})` }
  }
}

function wholeNumber(from: number, to: number): Reader {
  return given => {
    const value = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given
    return Number.isInteger(value) && Number(value) >= from && Number(value) <= to
      ? { value }
      : { must: `a whole number from ${from} to ${to}` }
  }
}
