import { breaker, lane as lanes, type shares } from '@secondwind/resilience/rules'
import type { Hold, LaneView } from '../task/lane-view.ts'
import type { DispatchPorts } from './ports.ts'
import type { ServedLane } from './served-lane.ts'

/** What can be said of a lane now. */
export function viewOf(lane: ServedLane, ports: DispatchPorts, slots: shares.Shares<ServedLane>): LaneView {
  const { lanePolicy, time, calls } = ports
  const now = time.now()
  const allowed = lanes.allowance(lanePolicy, lane.state, now, lane.leases)
  const own: Hold | undefined = calls.isResting ? { reason: 'store' } : allowed.hold
  const hold: Hold | undefined = own ?? (slots.taken >= slots.slots ? { reason: 'slots' } : undefined)
  const { oldestDueAt } = lane
  return {
    lane: lane.key,
    breaker: breaker.phaseOf(lane.state.breaker, now),
    ...(hold !== undefined && { hold }),
    ...(allowed.retryHold !== undefined && { retryHold: allowed.retryHold }),
    limit: lanes.limitAt(lanePolicy, lane.state, now),
    inFlight: lane.running,
    budgetBalance: Math.max(0, Math.floor(lanes.budgetBalance(lanePolicy, lane.state, now))),
    ...(oldestDueAt < Infinity && { oldestDueAt }),
  }
}
