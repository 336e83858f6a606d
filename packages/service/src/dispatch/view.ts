import { lane as lanes, laneCredit, laneKind, laneMemory, type shares } from '@secondwind/resilience/rules'
import { endOf, isInForce, isInScope, type Control } from '../task/control.ts'
import {
  holdsOn,
  isGate,
  together,
  type Gates,
  type Hold,
  type KindHolds,
  type LaneView,
  type PolicyHold,
} from '../task/lane-view.ts'
import { partitionOf } from '../task/lane.ts'
import { endOfPause, gatesAt, type Orders, type QueueGate } from '../task/orders.ts'
import { SYSTEM } from '../task/system.ts'
import type { QueueKind } from '../task/task.ts'
import type { DispatchPorts } from './ports.ts'
import type { ServedLane } from './served-lane.ts'
import type { ServedPartition } from './served-partition.ts'
import type { Stewardship } from './stewardship.ts'
import type { Steering } from './steering.ts'

interface Surroundings extends Pick<DispatchPorts, 'time' | 'calls'> {
  readonly steering: Steering
  readonly slots: shares.Shares<ServedLane>
}

/** A lane as far as it is seen. */
export type SeenLane = Pick<
  ServedLane,
  'key' | 'partition' | 'policy' | 'state' | 'orders' | 'leases' | 'running' | 'queues' | 'unheldSince' | 'gatesAt'
>

/** Undefined for a lane of a partition that is not served here. */
export function laneIn(
  { partitions, left }: Pick<Stewardship, 'partitions' | 'left'>,
  key: string,
  around: Surroundings,
): SeenLane | undefined {
  const number = partitionOf(key)
  const partition = partitions.get(number)
  const known = partition?.lanes.get(key) ?? left.get(number)?.lanes.get(key)
  return known ?? (partition?.phase === 'serving' ? idleLane(key, partition, around) : undefined)
}

/** A lane without tasks is not kept: it is as a new one would be under its orders, or as the last steward has left it. */
function idleLane(key: string, partition: ServedPartition, { steering, time }: Surroundings): SeenLane {
  const { policy, orders } = steering.steered(key)
  const memory = partition.memories.get(key)
  const state =
    memory === undefined ? lanes.newLane(policy, time.now()) : laneMemory.laneFrom(policy, memory, time.now())
  const gates = (now: number): QueueGate[] => gatesAt(orders.queues, policy.limit, now, () => 0)
  const none = { leases: 0, running: 0, queues: new Map<string, never>(), unheldSince: 0 }
  return { key, partition, policy, state, orders, ...none, gatesAt: gates }
}

/** What can be said of a lane now. */
export function viewOf(lane: SeenLane, { time, calls, steering, slots }: Surroundings): LaneView {
  const now = time.now()
  const { policy, state } = lane
  const oldestDueAt = Math.min(Infinity, ...[...lane.queues.values()].map(({ dueAt }) => dueAt))
  const gates = shutNow(lane, now)
  const isStoreLost = lane.partition.phase === 'gone' || calls.isResting || !steering.isFresh
  const holds = isStoreLost ? [STORE] : gates
  const hold = together(holds.length === 0 && slots.taken >= slots.slots ? [SLOTS] : holds)
  const shut = lane.gatesAt(now).filter(({ room }) => room === 0)
  const sendsProbes = gates.length === 0 && policy.orders?.forced === undefined
  const kindHolds = kindHoldsOf(lane, shut, { now, sendsProbes })
  const policyHolds = shut.flatMap((gate): PolicyHold[] =>
    gate.scope.policyId === undefined ? [] : [{ scope: gate.scope, hold: holdOf(gate) }],
  )
  const probeAt = sendsProbes ? nextProbeAt(lane) : Infinity
  return {
    lane: lane.key,
    breaker: lanes.lanePhase(policy, state),
    ...(hold !== undefined && { hold }),
    ...(kindHolds !== undefined && { kindHolds }),
    ...(policyHolds.length > 0 && { policyHolds }),
    limit: lanes.limitAt(policy, state, now),
    inFlight: lane.running,
    credit: creditOf(lane),
    ...(probeAt < Infinity && { nextProbeAt: probeAt }),
    ...(policy.budget !== undefined && {
      budgetBalance: Math.max(0, Math.floor(lanes.budgetBalance(policy, state, now))),
    }),
    ...(oldestDueAt < Infinity && { oldestDueAt }),
    ...dueOf(lane, { hold: together(gates), kindHolds, policyHolds }, now),
  }
}

/** Of the kinds whose credit is used up and that have a task. */
function nextProbeAt({ queues, state }: SeenLane): number {
  let earliest = Infinity
  for (const { queue, dueAt } of queues.values()) {
    const purse = state.credit.purses[queue.kind]
    if (laneCredit.isEmpty(purse)) earliest = Math.min(earliest, Math.max(purse.probeAt, dueAt))
  }
  return earliest
}

/** A switch for retries alone holds every kind but the first. */
function kindHoldsOf(
  { policy, state }: SeenLane,
  shut: readonly QueueGate[],
  { now, sendsProbes }: { readonly now: number; readonly sendsProbes: boolean },
): KindHolds | undefined {
  const own = lanes.kindHolds(policy, state, now)
  const holds = laneKind.START_KINDS.flatMap((kind): [QueueKind, Hold][] => {
    const ordered = shut.filter(({ scope }) => scope.policyId === undefined && isInScope(scope, { kind, policyId: '' }))
    const isProbing = sendsProbes && ordered.length === 0
    const ofLane = own[kind] === undefined ? [] : [isProbing ? own[kind] : withoutProbes(own[kind])]
    const hold = together([...ordered.map(holdOf), ...ofLane])
    return hold === undefined ? [] : [[kind, hold]]
  })
  return holds.length === 0 ? undefined : Object.fromEntries(holds)
}

/** Behind another gate no probe is sent. */
function withoutProbes({ until, everyMs, ...hold }: Hold): Hold {
  return everyMs === undefined && until !== undefined ? { ...hold, until } : hold
}

/** What lies above `most` for a moment is nobody's concern. */
function creditOf({ policy, state }: SeenLane): LaneView['credit'] {
  const of = (kind: QueueKind): number => {
    const { balance } = state.credit.purses[kind]
    return Math.min(policy.credit.most[kind], balance)
  }
  return { first: of('first'), retry: of('retry'), late: of('late') }
}

/** Of what is due, since when it waits for us, and since when behind a gate. */
function dueOf(
  { queues, unheldSince }: SeenLane,
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

function shutNow({ policy, state, orders, leases }: SeenLane, now: number): Hold[] {
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
