/**
 * What operators' controls and settings come to for one lane: instants alone, and no clock. Of controls that mean the same
 * queues the one that lasts longest counts: it holds until then, and from then on its ramp.
 */
import { laneOrders, ramp } from '@secondwind/resilience/rules'
import { endOf, isInScope, queuesOf, reaches, type Control, type QueueScope } from './control.ts'
import type { DestinationSettings } from './destination-settings.ts'
import type { Lane } from './lane.ts'
import type { Queue } from './task.ts'

export interface Orders {
  /** For the lane as a whole. */
  readonly lane: laneOrders.LaneOrders
  /** The control behind its kill switch, in force or over. */
  readonly control?: Control
  /** For some of its queues. */
  readonly queues: readonly QueueOrder[]
}

export interface QueueOrder {
  readonly scope: QueueScope
  readonly control: Control
}

/** Most lanes have none: they share these. */
export const NO_ORDERS: Orders = { lane: {}, queues: [] }

export function ordersFor(lane: Lane, controls: readonly Control[], settings: DestinationSettings = {}): Orders {
  const longest = new Map<string, QueueOrder>()
  for (const control of controls) {
    if (control.level === 'intake-off' || !reaches(control, lane)) continue
    const scope = queuesOf(control)
    const name = JSON.stringify(scope)
    const known = longest.get(name)
    if (known === undefined || endOf(control) > endOf(known.control)) longest.set(name, { scope, control })
  }
  const whole = longest.get(WHOLE_LANE)?.control
  longest.delete(WHOLE_LANE)
  const byRecord = settingsOrders(settings)
  if (whole === undefined && longest.size === 0 && Object.keys(byRecord).length === 0) return NO_ORDERS
  return {
    lane: { ...byRecord, ...(whole !== undefined && { kill: termOf(whole) }) },
    ...(whole !== undefined && { control: whole }),
    queues: [...longest.values()],
  }
}

const WHOLE_LANE = JSON.stringify({})

function settingsOrders({ paused, resumed, forced }: DestinationSettings): laneOrders.LaneOrders {
  const ramps: ramp.Ramp[] = []
  if (resumed !== undefined)
    ramps.push({ since: resumed.since, ...(resumed.rampMs !== undefined && { rampMs: resumed.rampMs }) })
  if (forced?.breaker === 'auto') ramps.push({ since: forced.since })
  return {
    ...(paused !== undefined && { pause: paused.until === undefined ? {} : { until: paused.until } }),
    ...(forced !== undefined && forced.breaker !== 'auto' && { forced: forced.breaker }),
    ...(ramps.length > 0 && { ramps }),
  }
}

function termOf(control: Control): laneOrders.Term {
  const end = endOf(control)
  return end === Infinity ? {} : { until: end }
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
    const term = termOf(control)
    if (laneOrders.isInForce(term, now)) return [{ scope, control, room: 0, reason: 'kill-switch', ...term }]
    const since = endOf(control)
    const allowed = ramp.rampLimit(since, now)
    if (allowed >= limit) return []
    const count = underWay(scope)
    const room = Math.max(0, allowed - count)
    return [{ scope, control, room, reason: 'slow-start', until: ramp.rampReaches(count + 1, since) }]
  })
}

/** The kill switch that a queue stands behind now: that of its lane, or one of its own. */
export function controlOn(orders: Orders, queue: Pick<Queue, 'kind' | 'policyId'>, now: number): Control | undefined {
  const { control, queues } = orders
  if (control !== undefined && now < endOf(control)) return control
  return queues.find(order => now < endOf(order.control) && isInScope(order.scope, queue))?.control
}
