import { breaker, lane as lanes, type shares } from '@secondwind/resilience/rules'
import { endOf, isInForce, type Control } from '../task/control.ts'
import { holdsOn, isGate, together, type Gates, type Hold, type LaneView, type PolicyHold } from '../task/lane-view.ts'
import { endOfPause, type Orders, type QueueGate } from '../task/orders.ts'
import { SYSTEM } from '../task/system.ts'
import type { DispatchPorts } from './ports.ts'
import type { ServedLane } from './served-lane.ts'
import type { Steering } from './steering.ts'

interface Surroundings extends Pick<DispatchPorts, 'time' | 'calls'> {
  readonly steering: Steering
  readonly slots: shares.Shares<ServedLane>
}

/** What can be said of a lane now. */
export function viewOf(lane: ServedLane, { time, calls, steering, slots }: Surroundings): LaneView {
  const now = time.now()
  const { policy, state, oldestDueAt } = lane
  const gates = shutNow(lane, now)
  const isStoreLost = lane.partition.phase === 'gone' || calls.isResting || !steering.isFresh
  const holds = isStoreLost ? [STORE] : gates
  const hold = together(holds.length === 0 && slots.taken >= slots.slots ? [SLOTS] : holds)
  const shut = lane.openingsAt(now, lane.leases).gates.filter(({ room }) => room === 0)
  const forRetries = shut.filter(({ scope }) => scope.policyId === undefined).map(holdOf)
  const unpaid = lanes.shutForRetries(policy, state, now)
  const retryHold = together(unpaid === undefined ? forRetries : [...forRetries, unpaid])
  const policyHolds = shut.flatMap((gate): PolicyHold[] =>
    gate.scope.policyId === undefined ? [] : [{ scope: gate.scope, hold: holdOf(gate) }],
  )
  const shutGates = { hold: together(gates), retryHold, policyHolds }
  return {
    lane: lane.key,
    breaker: breaker.phaseOf(state.breaker, now),
    ...(hold !== undefined && { hold }),
    ...(retryHold !== undefined && { retryHold }),
    ...(policyHolds.length > 0 && { policyHolds }),
    limit: lanes.limitAt(policy, state, now),
    inFlight: lane.running,
    budgetBalance: Math.max(0, Math.floor(lanes.budgetBalance(policy, state, now))),
    ...(oldestDueAt < Infinity && { oldestDueAt }),
    ...dueOf(lane, shutGates, now),
  }
}

/** Of what is due, since when it waits for us, and since when behind a gate. */
function dueOf(
  { queues, unheldSince }: ServedLane,
  gates: Gates,
  now: number,
): Pick<LaneView, 'overdueSince' | 'heldSince'> {
  let overdueSince = Infinity
  let heldSince = Infinity
  for (const { queue, dueAt } of queues.values()) {
    if (dueAt > now) continue
    if (holdsOn(gates, queue).some(({ reason }) => isGate(reason))) heldSince = Math.min(heldSince, dueAt)
    else overdueSince = Math.min(overdueSince, Math.max(dueAt, unheldSince))
  }
  return { ...(overdueSince < Infinity && { overdueSince }), ...(heldSince < Infinity && { heldSince }) }
}

const STORE: Hold = { reason: 'store' }
const SLOTS: Hold = { reason: 'slots' }

function shutNow({ policy, state, orders, leases }: ServedLane, now: number): Hold[] {
  return lanes.shutGates(policy, state, now, leases).flatMap(hold => inWords(hold, orders, now))
}

/** Every order that shuts it, with what was said beside it, and whose word it was. */
function inWords(hold: Hold, { controls, pauses }: Orders, now: number): readonly Hold[] {
  if (hold.reason === 'kill-switch')
    return controls
      .filter(control => isInForce(control, now))
      .map(control => ({ reason: 'kill-switch', ...opening(endOf(control)), ...wordsOf(control) }))
  if (hold.reason !== 'paused') return [hold]
  return pauses
    .filter(pause => now < endOfPause(pause))
    .map(({ until, by, reason: because, isByOperator }) => ({
      reason: 'paused',
      ...opening(until),
      ...(because !== undefined && { because }),
      ...(isByOperator && { isByOperator }),
      ...(by === SYSTEM && { isByRule: true }),
    }))
}

function opening(until = Infinity): Pick<Hold, 'until'> {
  return until === Infinity ? {} : { until }
}

function holdOf({ control, reason, until }: QueueGate): Hold {
  return { reason, ...opening(until), ...(reason === 'kill-switch' && wordsOf(control)) }
}

function wordsOf({ controlId, level, reason, isByOperator }: Control): Omit<Hold, 'reason' | 'until'> {
  return { level, controlId, because: reason, ...(isByOperator && { isByOperator }) }
}
