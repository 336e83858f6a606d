/**
 * What operators' controls and settings come to for one lane: instants alone, and no clock. Of controls that mean the same
 * queues, and of pauses, the one that lasts longest holds; from then on the ramps of all of them do: no order covers another's
 * way back by an order that ends later.
 */
import { laneOrders, ramp } from '@secondwind/resilience/rules'
import { endOf, isInScope, queuesOf, reaches, type Control, type QueueScope } from './control.ts'
import {
  creditOrder,
  type ComingBack,
  type DestinationSettings,
  type Paused,
  type Standing,
} from './destination-settings.ts'
import { isByHand, type Lane } from './lane.ts'
import { watchOf, type Watch } from './stop-rule.ts'
import type { Queue, Rank } from './task.ts'

export interface Orders {
  /** For the lane as a whole. */
  readonly lane: laneOrders.LaneOrders
  /** The controls behind its kill switch, in force or over; the one that lasts longest first. */
  readonly controls: readonly Control[]
  /** Its pauses, in force or over; the one that lasts longest first. */
  readonly pauses: readonly Paused[]
  /** For some of its queues. */
  readonly queues: readonly QueueOrder[]
  /** The resumes that are watched, now or later: that of every tenant, and the lane's own. */
  readonly watches: readonly Watch[]
}

export interface QueueOrder {
  readonly scope: QueueScope
  readonly control: Control
}

/** Most lanes have none: they share these. */
export const NO_ORDERS: Orders = { lane: {}, controls: [], pauses: [], queues: [], watches: [] }

export function ordersFor(lane: Lane, controls: readonly Control[], { all = {}, own = {} }: Standing = {}): Orders {
  const meant = controls.filter(control => control.level !== 'intake-off' && reaches(control, lane))
  const byEnd = meant.toSorted((left, right) => endOf(right) - endOf(left) || 0)
  const wholes = byEnd.filter(control => isWholeLane(queuesOf(control)))
  const [whole, ...shorter] = wholes
  const queues = byEnd.flatMap(control => (isWholeLane(queuesOf(control)) ? [] : { scope: queuesOf(control), control }))
  const pauses = [all.paused, own.paused]
    .filter(pause => pause !== undefined)
    .toSorted((left, right) => endOfPause(right) - endOfPause(left) || 0)
  const [paused, ...covers] = pauses
  const covered = [
    ...shorter.flatMap(control => rampAfterEnd(endOf(control), control)),
    ...covers.flatMap(other => rampAfterEnd(other.until, other)),
  ]
  const byRecord = settingsOrders({ all, own }, paused, covered)
  if (whole === undefined && queues.length === 0 && Object.keys(byRecord).length === 0) return NO_ORDERS
  return {
    lane: { ...byRecord, ...(whole !== undefined && { kill: termOf(whole) }) },
    controls: wholes,
    pauses,
    queues,
    watches: [...watchOf('all', all.resumed), ...watchOf('own', own.resumed)],
  }
}

function isWholeLane(scope: QueueScope): boolean {
  return Object.keys(scope).length === 0
}

export function endOfPause({ until = Infinity }: Paused): number {
  return until
}

function settingsOrders(
  standing: Required<Standing>,
  paused: Paused | undefined,
  covered: readonly ramp.Ramp[],
): laneOrders.LaneOrders {
  const ramps = [standing.all, standing.own].flatMap(rampsOf).concat(covered)
  const forced = forcedBy(standing)
  return {
    ...(paused !== undefined && { pause: term(paused.until, paused) }),
    ...(forced !== undefined && { forced }),
    ...(ramps.length > 0 && { ramps }),
  }
}

function rampsOf({ resumed, forced }: DestinationSettings): ramp.Ramp[] {
  return [
    ...(resumed === undefined ? [] : [rampAfter(resumed.since, resumed)]),
    ...(forced?.breaker === 'auto' ? [{ since: forced.since }] : []),
  ]
}

/** An order to hold it open comes first. A tenant cannot hold it closed where an operator has set the credit. */
function forcedBy(standing: Required<Standing>): 'open' | 'closed' | undefined {
  const isOrdered = creditOrder(standing) !== undefined
  const words = [standing.all, standing.own].flatMap(({ forced }) =>
    forced === undefined || (isOrdered && forced.breaker === 'closed' && !forced.isByOperator) ? [] : forced.breaker,
  )
  return (['open', 'closed'] as const).find(word => words.includes(word))
}

function termOf(control: Control): laneOrders.Term {
  return term(endOf(control), control)
}

function term(until: number | undefined, { rampMs }: ComingBack): laneOrders.Term {
  return {
    ...(until !== undefined && until !== Infinity && { until }),
    ...(rampMs !== undefined && { rampMs }),
  }
}

/** Nothing follows what has no end. */
function rampAfterEnd(end: number | undefined, way: ComingBack): ramp.Ramp[] {
  return end === undefined || end === Infinity ? [] : [rampAfter(end, way)]
}

function rampAfter(since: number, { rampMs }: ComingBack): ramp.Ramp {
  return { since, ...(rampMs !== undefined && { rampMs }) }
}

/** Some queues of a lane together: so many of their tasks may start, and if none, until when. */
export interface QueueGate {
  readonly scope: QueueScope
  readonly control: Control
  readonly room: number
  /** Its control is in force, or its queues are on the way back. */
  readonly reason: 'kill-switch' | 'slow-start'
  /** Absent when something has to be done, or to end, first. */
  readonly until?: number
}

/** The gates that are shut or half shut now; `underWay` says how many of the meant queues' requests are. */
export function gatesAt(
  queues: readonly QueueOrder[],
  limit: number,
  now: number,
  underWay: (scope: QueueScope) => number,
): QueueGate[] {
  return queues.flatMap(({ scope, control }): QueueGate[] => {
    const end = endOf(control)
    if (now < end) return [{ scope, control, room: 0, reason: 'kill-switch', ...(end !== Infinity && { until: end }) }]
    const way = rampAfter(end, control)
    const allowed = ramp.limitUnder(way, limit, now)
    if (allowed >= limit) return []
    const count = underWay(scope)
    const room = Math.max(0, allowed - count)
    return [{ scope, control, room, reason: 'slow-start', until: ramp.reachesUnder(way, count + 1, limit) }]
  })
}

/** An attempt that was asked for by hand passes a tenant's pause. It passes no pause of an operator, also if an operator asked for it. */
export function passesPauses({ pauses }: Orders, rank: Rank, now: number): boolean {
  return isByHand(rank) && !pauses.some(pause => pause.isByOperator && now < endOfPause(pause))
}

/** The kill switch that a queue stands behind now: that of its lane, or one of its own. */
export function controlOn(orders: Orders, queue: Pick<Queue, 'kind' | 'policyId'>, now: number): Control | undefined {
  const { controls, queues } = orders
  const whole = controls.find(control => now < endOf(control))
  if (whole !== undefined) return whole
  return queues.find(order => now < endOf(order.control) && isInScope(order.scope, queue))?.control
}
