import type { Destination, RecentAttempts } from '@secondwind/client'
import type { KnownDestination } from '../../steering/standing-orders.ts'
import type { LaneCounters, TaskStore } from '../../stores/task-store.ts'
import { settingsAt } from '../../task/destination-settings.ts'
import type { LaneView } from '../../task/lane-view.ts'
import { laneOf } from '../../task/lane.ts'
import type { SeriesBook } from '../../telemetry/series/series-book.ts'

interface Known {
  readonly counters: LaneCounters
  readonly view: LaneView | undefined
  /** Where what was sent lately can be read. */
  readonly series: SeriesBook
  /** What whoever asks has set, and what holds for every tenant: the same record for an operator who names none. */
  readonly own: KnownDestination | undefined
  readonly all: KnownDestination | undefined
  readonly now: number
}

/** Long enough for a share of retries to mean something, short enough that nobody pauses what has come back. */
const RECENT_MS = 60_000

export function destinationView({ counters, view, series, own, all, now }: Known): Destination {
  const { lane, pending, inFlight, succeeded, exhausted, cancelled, attempts, firstAttempts } = counters
  const { name, ...settings } = settingsAt(own?.settings ?? {}, now)
  const { name: _, ...ordered } = own?.lane === all?.lane ? {} : settingsAt(all?.settings ?? {}, now)
  const recent = recentAttempts(lane, series)
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
    ...costOf(attempts, firstAttempts),
    ...(recent !== undefined && { recent }),
    ...(own !== undefined && { settings: { ...settings, version: own.version } }),
    ...(Object.keys(ordered).length > 0 && { operatorSettings: ordered }),
  }
}

function recentAttempts(lane: string, series: SeriesBook): RecentAttempts | undefined {
  const { first = 0, retry = 0 } = series.attemptsWithin(lane, RECENT_MS) ?? {}
  return first + retry === 0 ? undefined : { windowMs: RECENT_MS, ...costOf(first + retry, first) }
}

/** What retrying makes of the load. */
function costOf(attempts: number, firstAttempts: number): Omit<RecentAttempts, 'windowMs'> {
  return {
    attempts,
    retryShare: attempts === 0 ? 0 : (attempts - firstAttempts) / attempts,
    // Of tasks that were handed over, or began before the window, nobody here has seen the first attempt.
    ...(firstAttempts > 0 && { amplification: attempts / firstAttempts }),
  }
}

/** Of one that has had no task yet they are all 0. */
export async function countersOf(lane: string, store: Pick<TaskStore, 'laneCounters'>): Promise<LaneCounters> {
  const [counters = noCounters(lane)] = (await store.laneCounters({ lane, limit: 1 })).items
  return counters
}

function noCounters(lane: string): LaneCounters {
  return { lane, pending: 0, inFlight: 0, succeeded: 0, exhausted: 0, cancelled: 0, attempts: 0, firstAttempts: 0 }
}

function gatesOf({ breaker, hold, retryHold, limit, budgetBalance }: LaneView): Partial<Destination> {
  return {
    breaker,
    ...(hold !== undefined && { hold }),
    ...(retryHold !== undefined && { retryHold }),
    // JSON knows no infinity: without a limit there is nothing to show.
    ...(Number.isFinite(limit) && { limit }),
    ...(Number.isFinite(budgetBalance) && { budgetBalance }),
  }
}
