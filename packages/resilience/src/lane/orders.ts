/**
 * What operators have ordered for a lane. Instants alone: nobody has to notice when an order is over, and whoever serves
 * the lane next finds the same.
 *
 *  1. A kill switch comes before every other gate: nothing starts.
 *  2. A pause lets nothing pass but what somebody asks for by hand, one at a time: so a destination is tried before it
 *     is opened.
 *  3. Whatever ended, by word or by time, is followed by a ramp: the limit grows from one since that instant.
 */
import { limitUnder, reachesUnder, type Ramp } from './ramp.ts'

export interface LaneOrders {
  readonly kill?: Term
  readonly pause?: Term
  /** The breaker as set by hand. */
  readonly forced?: 'open' | 'closed'
  /** What came after orders that are over; the slowest of them counts. */
  readonly ramps?: readonly Ramp[]
}

/** How long an order is in force; without `until`, until it is taken back. */
export interface Term {
  readonly until?: number
  /** Of the ramp that follows; absent: it doubles at its usual pace. */
  readonly rampMs?: number
}

export interface Shut extends Pick<Term, 'until'> {
  readonly reason: 'kill-switch' | 'paused'
}

/** The order that shuts the lane now. */
export function shutBy(orders: LaneOrders | undefined, now: number): Shut | undefined {
  return orders === undefined ? undefined : everyShut(orders, now)[0]
}

/** All that do. */
export function everyShut({ kill, pause }: LaneOrders, now: number): Shut[] {
  return [
    ...(isInForce(kill, now) ? [shut('kill-switch', kill)] : []),
    ...(isInForce(pause, now) ? [shut('paused', pause)] : []),
  ]
}

function shut(reason: Shut['reason'], { until }: Term): Shut {
  return { reason, ...(until !== undefined && { until }) }
}

export function isInForce(term: Term | undefined, now: number): term is Term {
  return term !== undefined && now < (term.until ?? Infinity)
}

/** What is left of a limit: one by hand while the lane is paused, and a part of it on the way back. */
export function limitByOrders(orders: LaneOrders | undefined, limit: number, now: number): number {
  if (orders === undefined) return limit
  if (isInForce(orders.pause, now)) return Math.min(1, limit)
  return Math.min(limit, ...rampsOf(orders, now).map(ramp => limitUnder(ramp, limit, now)))
}

/** The first instant at which all ramps give so many. */
export function reachesByOrders(orders: LaneOrders | undefined, count: number, limit: number, now: number): number {
  if (orders === undefined) return -Infinity
  return Math.max(-Infinity, ...rampsOf(orders, now).map(ramp => reachesUnder(ramp, count, limit)))
}

function rampsOf({ kill, pause, ramps = [] }: LaneOrders, now: number): Ramp[] {
  const over = [kill, pause].flatMap((term): Ramp[] => {
    if (term?.until === undefined || now < term.until) return []
    return [{ since: term.until, ...(term.rampMs !== undefined && { rampMs: term.rampMs }) }]
  })
  return [...ramps, ...over]
}
