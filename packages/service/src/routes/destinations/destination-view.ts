import type { KnownDestination } from '../../steering/standing-orders.ts'
import type { LaneCounters } from '../../stores/task-store.ts'
import { settingsAt } from '../../task/destination-settings.ts'
import type { LaneView } from '../../task/lane-view.ts'
import { laneOf } from '../../task/lane.ts'
import type { ShownDestination } from '../schemas/destination.ts'

interface Known {
  readonly counters: LaneCounters
  readonly view: LaneView | undefined
  /** What whoever asks has set, and what holds for every tenant: the same record for an operator who names none. */
  readonly own: KnownDestination | undefined
  readonly all: KnownDestination | undefined
  readonly now: number
}

export function destinationView({ counters, view, own, all, now }: Known): ShownDestination {
  const { lane, pending, inFlight, succeeded, exhausted, cancelled, attempts, firstAttempts } = counters
  const { name, ...settings } = settingsAt(own?.settings ?? {}, now)
  const { name: _, ...ordered } = own?.lane === all?.lane ? {} : settingsAt(all?.settings ?? {}, now)
  return {
    destination: laneOf(lane).destination,
    ...(name !== undefined && { name }),
    ...(view !== undefined && gatesOf(view)),
    // The instance that serves it hears a little late that the last one was cancelled.
    ...(view?.oldestDueAt !== undefined && pending > 0 && { oldestDueAt: view.oldestDueAt }),
    inFlight,
    backlog: pending,
    succeeded,
    exhausted,
    cancelled,
    attempts,
    retryShare: attempts === 0 ? 0 : (attempts - firstAttempts) / attempts,
    // Of tasks that were handed over nobody here has seen the first attempt.
    ...(firstAttempts > 0 && { amplification: attempts / firstAttempts }),
    ...(own !== undefined && { settings: { ...settings, version: own.version } }),
    ...(Object.keys(ordered).length > 0 && { operatorSettings: ordered }),
  }
}

/** Of one that has had no task yet. */
export function noCounters(lane: string): LaneCounters {
  return { lane, pending: 0, inFlight: 0, succeeded: 0, exhausted: 0, cancelled: 0, attempts: 0, firstAttempts: 0 }
}

function gatesOf({ breaker, hold, retryHold, limit, budgetBalance }: LaneView): Partial<ShownDestination> {
  return {
    breaker,
    ...(hold !== undefined && { hold }),
    ...(retryHold !== undefined && { retryHold }),
    // JSON knows no infinity: without a limit there is nothing to show.
    ...(Number.isFinite(limit) && { limit }),
    ...(Number.isFinite(budgetBalance) && { budgetBalance }),
  }
}
