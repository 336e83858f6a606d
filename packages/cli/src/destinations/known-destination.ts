/** Lists show a destination without its scheme: what they show is taken for it, wherever a command takes one. */
import { InvalidOptionError, ServiceError } from '@secondwind/client'
import type { Argument, Option } from '../command.ts'
import { usageFailure, type Failure } from '../failure.ts'
import { typed } from '../input/typed.ts'
import { readItems } from '../remote/listing.ts'
import type { RemoteCall } from '../remote/remote-command.ts'

interface Taken {
  readonly arguments?: readonly Argument[] | undefined
  readonly options?: readonly Option[] | undefined
}

/** The call with each destination by its origin, where a host was typed that one destination has. */
export async function withKnownDestinations(call: RemoteCall, taken: Taken): Promise<RemoteCall> {
  const args = await Promise.all(
    call.args.map(async (word, at) =>
      taken.arguments?.[at]?.isDestination && typeof word === 'string' ? knownDestination(word, call) : word,
    ),
  )
  const { destination } = call.options
  if (typeof destination !== 'string' || !taken.options?.some(option => option.isDestination)) return { ...call, args }
  return { ...call, args, options: { ...call.options, destination: await knownDestination(destination, call) } }
}

/** A host, or a host and its port, as an address has them: also what looks like a name. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i

/** What was typed, unless it is the host of a destination; that of several is nobody's guess. */
export async function knownDestination(word: string, call: RemoteCall): Promise<string> {
  if (!HOST.test(word) || (await isName(word, call))) return word
  const found = await originsAt(word, call)
  if (found.length > 1) throw several(word, found, call)
  const [origin] = found
  if (origin === undefined) return word
  call.terminal.tell(`taking ${word} for ${origin}\n`)
  return origin
}

/** Names come first. Where nobody says what it is, what was typed stands. */
async function isName(word: string, { client }: RemoteCall): Promise<boolean> {
  try {
    await client.destinations.get(word)
    return true
  } catch (error) {
    if (error instanceof InvalidOptionError) return false
    if (error instanceof ServiceError) return error.code !== 'destination-not-found'
    throw error
  }
}

/** More would be slow to read, and whoever has so many knows their origins. */
const MOST_KNOWN = 1_000

async function originsAt(word: string, { client }: RemoteCall): Promise<readonly string[]> {
  const lists = [client.destinations.list(), client.destinations.list({ hasSettings: true })]
  const pages = await Promise.all(lists.map(list => readItems(list, MOST_KNOWN)))
  const origins = pages.flatMap(({ items }) => items.map(({ destination }) => destination))
  return [...new Set(origins)].filter(origin => hostsOf(origin).includes(word.toLowerCase()))
}

const USUAL_PORTS: { readonly [protocol: string]: string } = { 'http:': '80', 'https:': '443' }

/** What an origin may be called without its scheme. */
function hostsOf(origin: string): readonly string[] {
  if (!URL.canParse(origin)) return []
  const { hostname, port, protocol } = new URL(origin)
  return [hostname, `${hostname}:${port || USUAL_PORTS[protocol]}`]
}

function several(word: string, origins: readonly string[], { words }: RemoteCall): Failure {
  // A word of its own, or the end of one as --destination=….
  const mended = (origin: string): readonly string[] =>
    words.map(one => (one === word || one.endsWith(`=${word}`) ? `${one.slice(0, -word.length)}${origin}` : one))
  const shown = origins.slice(0, MOST_SHOWN)
  return usageFailure({
    code: 'several-destinations',
    what: `${word} is the host of ${origins.length} destinations`,
    because: [`Did you mean ${shown.join(' or ')}${origins.length > MOST_SHOWN ? ', or another' : ''}?`],
    next: shown.map(origin => typed(mended(origin))),
  })
}

const MOST_SHOWN = 5
