/** A destination that nothing was ever sent to is most likely a slip: which one was meant? */
import { ServiceError, type Destination } from '@secondwind/client'
import { check } from '@secondwind/resilience/rules'
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

export async function slipOf({ destination }: Destination, { client, words, args }: RemoteCall): Promise<Slip> {
  const meant = nearest(destination, await knownTo(client), isNearby)
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`
  const mended = words.map(word => (word === args[0] ? (meant ?? word) : word))
  return {
    say: `nothing was ever sent to ${destination}${hint}`,
    next: meant === undefined ? [] : [typed(mended)],
  }
}

export async function unknownDestination(one: Destination, call: RemoteCall): Promise<Failure> {
  const { say, next } = await slipOf(one, call)
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
    // Whoever may change and not read gets no hint; the change itself was made.
    if (error instanceof ServiceError) return []
    throw error
  }
}

/** A slip in a word; or the right machine, with another port or scheme. */
function isNearby(typedOrigin: string, known: string): boolean {
  const hosts = [typedOrigin, known].map(origin => (URL.canParse(origin) ? new URL(origin).hostname : origin))
  return hosts[0] === hosts[1] || check.isNear(hosts[0]!, hosts[1]!)
}
