/** A destination that nothing was ever sent to is most likely a slip: which one was meant? */
import { ServiceError, type Destination } from '@secondwind/client'
import { check } from '@secondwind/resilience/rules'
import type { Answer } from '../command.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { nearest } from '../input/nearest.ts'
import { typed } from '../input/typed.ts'
import { readItems } from '../remote/listing.ts'
import type { RemoteCall } from '../remote/remote-command.ts'
import { nameOf } from '../steering/watch-it.ts'

export function isNeverUsed({ attempts, backlog, inFlight, succeeded, exhausted, cancelled }: Destination): boolean {
  return [attempts, backlog, inFlight, succeeded, exhausted, cancelled].every(count => count === 0)
}

/** Nor was anything set for it. */
export function isUnknown(one: Destination): boolean {
  return isNeverUsed(one) && one.settings === undefined && one.operatorSettings === undefined
}

/** What is said of it, and the line as it was perhaps meant. */
export interface Slip {
  readonly say: string
  readonly next: readonly string[]
}

/** `as`: the word that was typed for it. */
export async function slipOf(
  { destination }: Pick<Destination, 'destination'>,
  as: string,
  { client, words }: RemoteCall,
): Promise<Slip> {
  const meant = nearest(destination, await knownTo(client), isNearby)
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`
  // A word of its own, or the end of one as --destination=….
  const mended = words.map(word =>
    word === as || word.endsWith(`=${as}`) ? `${word.slice(0, -as.length)}${meant}` : word,
  )
  return {
    say: `nothing was ever sent to ${destination}${hint}`,
    next: meant === undefined ? [] : [typed(mended)],
  }
}

/** For a list of what a destination has, which is empty: perhaps because there is no such destination. */
export async function tellSlip(
  items: readonly unknown[],
  as: string | undefined,
  call: RemoteCall,
): Promise<Pick<Answer, 'next'>> {
  if (items.length > 0 || as === undefined) return {}
  return { next: await tellIf(await findUnknown(as, call), as, call) }
}

/** For an order in advance: a good one, unless there is a slip in the name. It returns the line as it was perhaps meant. */
export async function tellNeverUsed(as: string, call: RemoteCall): Promise<readonly string[]> {
  return tellIf(await findUnknown(as, call, isNeverUsed), as, call)
}

async function tellIf(
  one: Pick<Destination, 'destination'> | undefined,
  as: string,
  call: RemoteCall,
): Promise<readonly string[]> {
  if (one === undefined) return []
  const { say, next } = await slipOf(one, as, call)
  call.terminal.tell(`${say}\n`)
  return next
}

/** Undefined for one that is known, and where nobody can say. */
export async function findUnknown(
  as: string,
  { client }: RemoteCall,
  isSuch: (one: Destination) => boolean = isUnknown,
): Promise<Pick<Destination, 'destination'> | undefined> {
  try {
    const one = await client.destinations.get(as)
    return isSuch(one) ? one : undefined
  } catch (error) {
    if (error instanceof ServiceError) return error.code === 'destination-not-found' ? { destination: as } : undefined
    throw error
  }
}

export async function unknownDestination(
  one: Pick<Destination, 'destination'>,
  as: string,
  call: RemoteCall,
): Promise<Failure> {
  const { say, next } = await slipOf(one, as, call)
  return new Failure({
    code: 'destination-not-found',
    what: say,
    because: ['No task was handed over for it, and nothing was set for it.'],
    so: 'Nothing was changed.',
    next: [...next, call.typed('destinations', 'list')],
    exitCode: EXIT_CODES.notFound,
  })
}

/** More would be slow to read, and a hint is worth little then. */
const MOST_KNOWN = 1_000

/** Names and origins that something was sent to. */
async function knownTo(client: RemoteCall['client']): Promise<readonly string[]> {
  try {
    const { items } = await readItems(client.destinations.list(), MOST_KNOWN)
    return items.filter(one => !isNeverUsed(one)).map(nameOf)
  } catch (error) {
    // Whoever may change and not read gets no hint; what was asked for was done.
    if (error instanceof ServiceError) return []
    throw error
  }
}

/** A slip in a word; or the right machine, with another port or scheme. */
function isNearby(typedOrigin: string, known: string): boolean {
  const hosts = [typedOrigin, known].map(origin => (URL.canParse(origin) ? new URL(origin).hostname : origin))
  return hosts[0] === hosts[1] || check.isNear(hosts[0]!, hosts[1]!)
}
