import type {
  Destination,
  DestinationOfTenant,
  DestinationSettings,
  LastFailure,
  RecentAttempts,
} from '@secondwind/client'
import type { Caller } from '../../access/caller.ts'
import type { KnownDestination } from '../../steering/standing-orders.ts'
import type { LaneCounters } from '../../stores/store.ts'
import { settingsAt } from '../../task/destination-settings.ts'
import type { LaneView } from '../../task/lane-view.ts'
import { laneOf, laneOfAll } from '../../task/lane.ts'
import type { AttemptCounts } from '../../telemetry/series/ring.ts'
import type { ApiContext } from '../context.ts'
import { placeOf } from './find-destination.ts'

/** The settings of a destination, as far as the caller may know them. */
export interface Records {
  /** The caller's own settings, and those for every tenant: the same record for an operator who names no tenant. */
  readonly own: KnownDestination | undefined
  readonly all: KnownDestination | undefined
}

export type Seeing = Pick<ApiContext, 'dispatching' | 'orders' | 'clock' | 'live'>

/** Long enough for a share of retries to mean something, short enough that no operator pauses a destination that has come back. */
const RECENT_MS = 60_000

type Asking = Pick<Caller, 'tenant' | 'isForAll'>

/** A destination of one tenant. */
export function destinationView(
  counters: LaneCounters,
  caller: Asking,
  seeing: Seeing,
  records: Records = recordsOf(counters.lane, caller, seeing),
): Destination {
  const now = seeing.clock.now()
  return {
    ...namesOf(counters.lane, records, now),
    ...viewOfTenant(counters, caller, seeing),
    ...settingsOf(records, now),
  }
}

function viewOfTenant(
  counters: LaneCounters,
  caller: Asking,
  { dispatching, orders, clock, live }: Seeing,
): DestinationOfTenant {
  const { lane, pending } = counters
  const view = dispatching.view(lane)
  const lastFailure = live.series.lastFailure(lane)
  const ofTenant = caller.isForAll ? ordersIn(orders.destination(lane), clock.now()) : {}
  return {
    tenant: laneOf(lane).tenant,
    ...(view !== undefined && gatesOf(view)),
    ...countsOf(counters, live.series.attemptsWithin(lane, RECENT_MS)),
    ...(lastFailure !== undefined && { lastFailure }),
    // The instance that serves it hears a little late that the last one was cancelled.
    ...(view?.oldestDueAt !== undefined && pending > 0 && { oldestDueAt: view.oldestDueAt }),
    ...(Object.keys(ofTenant).length > 0 && { tenantSettings: ofTenant }),
  }
}

/** Of so many tenants each is shown by itself. */
const MOST_SHOWN = 100

/** What every tenant has there, and each of them by itself: gates are each tenant's own. */
export function destinationOfAll(
  lanes: readonly LaneCounters[],
  caller: Asking,
  seeing: Seeing,
  records: Records,
): Destination {
  const now = seeing.clock.now()
  const tenants = lanes
    .toSorted((one, other) => other.pending - one.pending || (one.lane < other.lane ? -1 : 1))
    .map(counters => viewOfTenant(counters, caller, seeing))
  const dueAts = tenants.flatMap(({ oldestDueAt }) => oldestDueAt ?? [])
  const failures = tenants.flatMap(({ lastFailure }) => lastFailure ?? [])
  const recent = lanes.flatMap(({ lane }) => seeing.live.series.attemptsWithin(lane, RECENT_MS) ?? [])
  return {
    ...namesOf(lanes[0]!.lane, records, now),
    ...countsOf(lanes.reduce(sumOf), recent.length === 0 ? undefined : recent.reduce(sumOf)),
    ...(dueAts.length > 0 && { oldestDueAt: Math.min(...dueAts) }),
    ...(failures.length > 0 && { lastFailure: failures.reduce(newest) }),
    ...settingsOf(records, now),
    tenants: tenants.slice(0, MOST_SHOWN),
  }
}

function newest(one: LastFailure, other: LastFailure): LastFailure {
  return other.at > one.at ? other : one
}

/** Of one that has had no task yet. */
export function unusedDestination(lane: string, records: Records, now: number): Destination {
  return { ...namesOf(lane, records, now), ...countsOf(noCounters(lane), undefined), ...settingsOf(records, now) }
}

function recordsOf(lane: string, caller: Asking, { orders }: Seeing): Records {
  const { id } = placeOf(laneOf(lane).destination, caller)
  return { own: orders.destination(id), all: orders.destination(laneOfAll(lane)) }
}

function namesOf(lane: string, { own }: Records, now: number): Pick<Destination, 'destination' | 'name'> {
  const { name } = settingsAt(own?.settings ?? {}, now)
  return { destination: laneOf(lane).destination, ...(name !== undefined && { name }) }
}

function settingsOf({ own, all }: Records, now: number): Pick<Destination, 'settings' | 'operatorSettings'> {
  const ordered = own?.lane === all?.lane ? {} : ordersIn(all, now)
  return {
    ...(own !== undefined && { settings: { ...ordersIn(own, now), version: own.version } }),
    ...(Object.keys(ordered).length > 0 && { operatorSettings: ordered }),
  }
}

function ordersIn(known: KnownDestination | undefined, now: number): DestinationSettings {
  const { name: _, ...orders } = settingsAt(known?.settings ?? {}, now)
  return orders
}

type Counts = Omit<LaneCounters, 'lane'>

function countsOf(
  { pending, inFlight, succeeded, exhausted, cancelled, attempts, firstAttempts }: Counts,
  { first, retry }: AttemptCounts = { first: 0, retry: 0 },
): DestinationOfTenant {
  return {
    inFlight,
    backlog: pending,
    succeeded,
    exhausted,
    cancelled,
    ...costOf(attempts, firstAttempts),
    ...(first + retry > 0 && { recent: { windowMs: RECENT_MS, ...costOf(first + retry, first) } }),
  }
}

/** What retrying makes of the load. */
function costOf(attempts: number, firstAttempts: number): Omit<RecentAttempts, 'windowMs'> {
  return {
    attempts,
    retryShare: attempts === 0 ? 0 : (attempts - firstAttempts) / attempts,
    // Of tasks that were handed over, or began before the window, this service has not seen the first attempt.
    ...(firstAttempts > 0 && { amplification: attempts / firstAttempts }),
  }
}

/** Number by number; what is no number is that of the first. */
function sumOf<Numbers extends object>(one: Numbers, other: Numbers): Numbers {
  const sums = Object.entries(one).map(([name, value]) => [
    name,
    typeof value === 'number' ? value + (other[name as keyof Numbers] as number) : value,
  ])
  return Object.fromEntries(sums) as Numbers
}

function noCounters(lane: string): LaneCounters {
  return { lane, pending: 0, inFlight: 0, succeeded: 0, exhausted: 0, cancelled: 0, attempts: 0, firstAttempts: 0 }
}

function gatesOf({
  breaker,
  hold,
  kindHolds,
  limit,
  credit,
  nextProbeAt,
  budgetBalance,
}: LaneView): Partial<DestinationOfTenant> {
  return {
    breaker,
    ...(hold !== undefined && { hold }),
    ...(kindHolds !== undefined && { kindHolds }),
    // JSON knows no infinity: without a limit there is nothing to show.
    ...(Number.isFinite(limit) && { limit }),
    credit,
    ...(nextProbeAt !== undefined && { nextProbeAt }),
    ...(budgetBalance !== undefined && { budgetBalance }),
  }
}
