import type { Problem } from '@secondwind/resilience'
import { ownerOf, type Caller } from '../../access/caller.ts'
import type { StandingOrders } from '../../steering/standing-orders.ts'
import { destinationFrom, laneKey, laneOf } from '../../task/lane.ts'
import { Refusal } from '../answers/refusal.ts'
import { didYouMean } from '../requests/near-words.ts'

/** A destination as somebody sees it. */
export interface Place {
  /** Whose tasks are shown. */
  readonly lane: string
  /** The record of what that somebody sets: of one tenant, or of all. */
  readonly id: string
}

type Asking = Pick<Caller, 'tenant' | 'isForAll'>

/** A destination, by the name it was given or by its origin; undefined when the text is neither. */
function destinationNamed(name: string, caller: Asking, orders: StandingOrders): string | undefined {
  const origin = destinationFrom(name)
  if (origin !== undefined) return origin
  const [lane] = ownersFor(caller).flatMap(owner => orders.laneNamed(owner, name) ?? [])
  return lane === undefined ? undefined : laneOf(lane).destination
}

export function findPlace(name: string, caller: Asking, orders: StandingOrders): Place {
  const destination = destinationNamed(name, caller, orders)
  if (destination !== undefined) return placeOf(destination, caller)
  const meant = didYouMean(name, namesFor(caller, orders))
  throw new Refusal('destination-not-found', {
    detail: `${name} is no name of a destination${meant || '; say its origin, such as https://api.example'}`,
  })
}

/** Where in a request a destination is named, and what stands there. */
interface Named {
  readonly at: string
  readonly is: string | undefined
}

/** A destination that a request names elsewhere than in its path; what nobody knows would be an empty list, as if all were well. */
export function readDestination(
  { at, is }: Named,
  caller: Asking,
  orders: StandingOrders,
): readonly [destination: string | undefined, problems: readonly Problem[]] {
  if (is === undefined) return [undefined, []]
  const destination = destinationNamed(is, caller, orders)
  if (destination !== undefined) return [destination, []]
  const meant = didYouMean(is, namesFor(caller, orders))
  const say = `must be an origin such as https://api.example, or the name of a destination${meant}`
  return [undefined, [{ at, is, say }]]
}

export function placeOf(destination: string, caller: Asking): Place {
  return {
    lane: laneKey({ tenant: caller.tenant, destination }),
    id: laneKey({ tenant: ownerOf(caller), destination }),
  }
}

/** Whose names are known to somebody. Those of whoever runs the service are theirs alone: a name tells of somebody. */
function ownersFor(caller: Asking): readonly string[] {
  return caller.isForAll ? [ownerOf(caller), caller.tenant] : [caller.tenant]
}

function* namesFor(caller: Asking, orders: StandingOrders): Generator<string> {
  const owners = ownersFor(caller)
  for (const { lane, settings } of orders.destinations)
    if (settings.name !== undefined && owners.includes(laneOf(lane).tenant)) yield settings.name
}
