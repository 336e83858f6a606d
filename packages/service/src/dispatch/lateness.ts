import type { Lateness } from '../telemetry/events.ts'
import type { ServedLane } from './served-lane.ts'

/** Of what was never sent. */
export const NOT_LATE: Lateness = { latenessMs: 0, ownLatenessMs: 0, overheadMs: 0 }

/** By what has opened until now: what opens while it is under way did not keep it. */
export function latenessOf(
  { openSince, unheldSince }: Pick<ServedLane, 'openSince' | 'unheldSince'>,
  dueAt: number,
  now: number,
): Lateness {
  return {
    latenessMs: Math.max(0, now - dueAt),
    ownLatenessMs: Math.max(0, now - Math.max(dueAt, unheldSince)),
    overheadMs: Math.max(0, now - Math.max(dueAt, openSince)),
  }
}
