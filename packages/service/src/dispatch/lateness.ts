import { lane as lanes } from '@secondwind/resilience/rules'
import { isByHand } from '../task/lane.ts'
import type { ClaimedTask } from '../task/task.ts'
import type { Lateness } from '../telemetry/events.ts'
import type { ServedLane } from './served-lane.ts'

/** Of what was never sent. */
export const NOT_LATE: Lateness = { latenessMs: 0, ownLatenessMs: 0, overheadMs: 0 }

/** By what has opened until now: what opens while it is under way did not keep it. A probe was held until its instant. */
export function latenessOf(
  lane: Pick<ServedLane, 'openSince' | 'unheldSince'>,
  { spent }: Pick<lanes.Payment, 'spent'>,
  dueAt: number,
  now: number,
): Lateness {
  const probeAt = spent.from === 'probe' ? spent.probeAt : -Infinity
  const openSince = Math.max(lane.openSince, probeAt)
  const unheldSince = Math.max(lane.unheldSince, probeAt)
  return {
    latenessMs: Math.max(0, now - dueAt),
    ownLatenessMs: Math.max(0, now - Math.max(dueAt, unheldSince)),
    overheadMs: Math.max(0, now - Math.max(dueAt, openSince)),
  }
}

/** Its deadline has passed, or would cut its attempt off. What is asked for by hand is tried all the same. */
export function isTooLate(
  { policy, state }: Pick<ServedLane, 'policy' | 'state'>,
  { progress: { expiresAt }, queue }: Pick<ClaimedTask, 'progress' | 'queue'>,
  now: number,
): boolean {
  return isByHand(queue.rank) ? expiresAt <= now : lanes.isHopeless(policy, state, expiresAt, now)
}
