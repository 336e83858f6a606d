import { breaker, lane as lanes, type shares } from '@secondwind/resilience/rules'
import type { Control } from '../task/control.ts'
import type { Hold, LaneView, PolicyHold } from '../task/lane-view.ts'
import type { Orders, QueueGate } from '../task/orders.ts'
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
  const { policy, state, orders, oldestDueAt } = lane
  const { allowed, gates } = lane.openingsAt(now, lane.leases)
  const own = calls.isResting || !steering.isFresh ? STORE : inWords(allowed.hold, orders)
  const hold = own ?? (slots.taken >= slots.slots ? SLOTS : undefined)
  const shut = gates.filter(({ room }) => room === 0)
  const retries = shut.find(({ scope }) => scope.policyId === undefined)
  const retryHold = retries === undefined ? allowed.retryHold : holdOf(retries)
  const policyHolds = shut.flatMap((gate): PolicyHold[] =>
    gate.scope.policyId === undefined ? [] : [{ scope: gate.scope, hold: holdOf(gate) }],
  )
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
  }
}

const STORE: Hold = { reason: 'store' }
const SLOTS: Hold = { reason: 'slots' }

/** What was said beside it, and whose word it was. */
function inWords(hold: Hold | undefined, { control, pauses: [paused] }: Orders): Hold | undefined {
  if (hold?.reason === 'kill-switch' && control !== undefined) return { ...hold, ...wordsOf(control) }
  if (hold?.reason !== 'paused' || paused === undefined) return hold
  const { reason: because, isByOperator } = paused
  return { ...hold, ...(because !== undefined && { because }), ...(isByOperator && { isByOperator }) }
}

function holdOf({ control, reason, until }: QueueGate): Hold {
  const opens = until === undefined ? {} : { until }
  return { reason, ...opens, ...(reason === 'kill-switch' && wordsOf(control)) }
}

function wordsOf({ controlId, level, reason, isByOperator }: Control): Omit<Hold, 'reason' | 'until'> {
  return { level, controlId, because: reason, ...(isByOperator && { isByOperator }) }
}
