import { createClient, type Client } from '@secondwind/client'
import { readFileSync } from 'node:fs'
import type { GivenOption, GivenOptions, Option } from '../command.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { optional, readOptions, text, type Reader } from '../input/read-options.ts'
import { withVisibleAnswers } from './visible-answers.ts'

/** Where `secondwind dev` and `serve` listen unless they are told otherwise. */
export const DEFAULT_URL = 'http://127.0.0.1:4747'

/** What every command takes that talks to a running service. */
export const CONNECTION_OPTIONS: readonly Option[] = [
  { flag: '--url <url>', say: `where the service is (${DEFAULT_URL}) [SECONDWIND_URL]` },
  {
    flag: '--key-file <file>',
    say: 'a file with your key, instead of SECONDWIND_KEY. A key is no flag: everybody on a machine can read flags, and shells keep them',
  },
  { flag: '--tenant <name>', say: "the tenant to act for, with an operator's key [SECONDWIND_TENANT]" },
]

export interface Connection {
  readonly client: Client
  readonly url: string
  readonly hasKey: boolean
  /** For whom to act, where that was said. */
  readonly tenant?: string
}

/** The service that was meant: flags before the environment. Nothing is sent yet. */
export function connect(options: GivenOptions, environment: NodeJS.ProcessEnv = process.env): Connection {
  // What a flag says, the environment need not be asked for.
  const fromEnvironment = (name: string, flag: GivenOption): GivenOption =>
    flag === undefined ? environment[name] : undefined
  const read = readOptions(
    {
      url: options['url'],
      keyFile: options['keyFile'],
      tenant: options['tenant'],
      SECONDWIND_URL: fromEnvironment('SECONDWIND_URL', options['url']),
      SECONDWIND_TENANT: fromEnvironment('SECONDWIND_TENANT', options['tenant']),
    },
    {
      url: optional(serviceUrl),
      keyFile: optional(text()),
      tenant: optional(tenantName),
      SECONDWIND_URL: optional(serviceUrl),
      SECONDWIND_TENANT: optional(tenantName),
    },
  )
  const { keyFile, url = read.SECONDWIND_URL ?? DEFAULT_URL, tenant = read.SECONDWIND_TENANT } = read
  const key = keyFile === undefined ? keyFrom(environment['SECONDWIND_KEY'], 'SECONDWIND_KEY') : keyIn(keyFile)
  const client = createClient({
    url,
    policy: PATIENCE,
    ...(key !== undefined && { key }),
    ...(tenant !== undefined && { tenant }),
  })
  return {
    client: withVisibleAnswers(client, options),
    url,
    hasKey: key !== undefined,
    ...(tenant !== undefined && { tenant }),
  }
}

/** Somebody sits there and waits: they can type it again. */
const PATIENCE = { maxAttempts: 3, totalBudgetMs: 15_000 }

const serviceUrl: Reader<string> = given => {
  const url = String(given)
  if (isServiceUrl(url)) return { value: url }
  const meant = `http://${url}`
  if (!url.includes('://') && isServiceUrl(meant)) return { must: `an address with its scheme: ${meant}` }
  return { must: `the address of a service, such as ${DEFAULT_URL}, without credentials and query` }
}

function isServiceUrl(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, username, password, search, hash } = new URL(url)
  return /^https?:$/.test(protocol) && [username, password, search, hash].every(part => part === '')
}

const tenantName: Reader<string> = given =>
  /^[a-z0-9][a-z0-9-]{0,62}$/.test(String(given))
    ? { value: String(given) }
    : { must: 'a name of 1 to 63 small letters, digits and dashes' }

/** On this machine: what goes there goes over no network. */
export function isNear(url: string): boolean {
  return URL.canParse(url) && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)
}

function keyIn(path: string): string {
  try {
    return keyFrom(readFileSync(path, 'utf8'), path)!
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).code) throw error
    throw noKey(path, `${(error as Error).message}.`)
  }
}

/** Never shown, not even when it cannot be one. */
function keyFrom(given: string | undefined, source: string): string | undefined {
  if (given === undefined) return undefined
  const key = given.trim()
  if (/^[\x21-\x7e]{1,500}$/.test(key)) return key
  throw noKey(source, key === '' ? 'It is empty.' : 'It is not one line of visible ASCII characters.')
}

function noKey(source: string, because: string): Error {
  return new Failure({
    code: 'no-key',
    what: `there is no key in ${source}`,
    because: [because],
    so: 'Nothing was run.',
    exitCode: EXIT_CODES.notAllowed,
  })
}
