import type { StandingOrders } from '../../steering/standing-orders.ts'
import { laneKey, laneOf } from '../../task/lane.ts'
import { Refusal } from '../answers/refusal.ts'
import { didYouMean } from '../requests/near-words.ts'

/** The lane of a destination, by the name it was given or by its origin; undefined when the text is neither. */
export function laneNamed(name: string, tenant: string, orders: StandingOrders): string | undefined {
  const origin = originOf(name)
  return origin === undefined ? orders.laneNamed(tenant, name) : laneKey({ tenant, destination: origin })
}

export function findLane(name: string, tenant: string, orders: StandingOrders): string {
  const lane = laneNamed(name, tenant, orders)
  if (lane !== undefined) return lane
  const meant = didYouMean(name, namesOf(tenant, orders))
  throw new Refusal('destination-not-found', {
    detail: `${name} is no name of a destination${meant || '; say its origin, percent-encoded: https%3A%2F%2Fapi.example'}`,
  })
}

/** Longer than any: 253 characters of a host, and what stands around it. */
const LONGEST_ORIGIN = 300

function originOf(text: string): string | undefined {
  if (text.length > LONGEST_ORIGIN || !/^https?:\/\//i.test(text)) return undefined
  const url = URL.parse(text)
  // What has more than an origin was meant for something else.
  return url !== null && url.href === `${url.origin}/` ? url.origin : undefined
}

function* namesOf(tenant: string, orders: StandingOrders): Generator<string> {
  for (const { lane, settings } of orders.destinations)
    if (settings.name !== undefined && laneOf(lane).tenant === tenant) yield settings.name
}
