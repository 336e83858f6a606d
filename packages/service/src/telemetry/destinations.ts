import type { LaneCounters } from '../stores/store.ts'
import { laneOf } from '../task/lane.ts'
import type { LaneView } from '../task/lane-view.ts'

/** A lane as it is seen at a scrape; `view` is absent where this instance does not serve it. */
export interface LaneReading {
  readonly counters: LaneCounters
  readonly view?: LaneView | undefined
}

/** The lanes of one destination, added up over its tenants. */
export interface DestinationReading {
  readonly destination: string
  readonly backlog: number
  readonly inFlight: number
  /** Of lanes that are served here. */
  readonly limit: number
  readonly credit: LaneView['credit']
  /** Of lanes that have a budget; absent where none has. */
  readonly budgetBalance?: number
  /** Breakers in each state. */
  readonly breakers: { readonly [state in BreakerState]: number }
  /** Whether this instance knows what is due: tasks of a lane that no instance serves may have been due for long. */
  readonly isKnown: boolean
  /** See `LaneView`. */
  readonly overdueSince?: number
  readonly heldSince?: number
}

type BreakerState = LaneView['breaker']

export const BREAKER_STATES: readonly BreakerState[] = ['closed', 'open', 'half-open', 'forced-open', 'forced-closed']

/** What is not shown under its own name. */
export const OTHER = 'other'

/**
 * The destinations with the longest backlogs, so many of them; the rest are added up as one. Their names come from
 * callers, and a metric for each would grow with whatever they call.
 */
export function readDestinations(lanes: readonly LaneReading[], most: number): DestinationReading[] {
  const byDestination = new Map<string, DestinationReading>()
  for (const lane of lanes) {
    const { destination } = laneOf(lane.counters.lane)
    const one = readingOf(destination, lane)
    const sum = byDestination.get(destination)
    byDestination.set(destination, sum === undefined ? one : added(sum, one))
  }
  const ranked = [...byDestination.values()].toSorted(byBacklog)
  if (ranked.length <= most) return ranked
  const rest = ranked.slice(most).reduce(added)
  return [...ranked.slice(0, most), { ...rest, destination: OTHER }]
}

/** Names decide among equals, so that two scrapes show the same ones. */
function byBacklog(left: DestinationReading, right: DestinationReading): number {
  return right.backlog - left.backlog || (left.destination < right.destination ? -1 : 1)
}

const NO_CREDIT: LaneView['credit'] = { first: 0, retry: 0, late: 0 }

function readingOf(destination: string, { counters, view }: LaneReading): DestinationReading {
  return {
    destination,
    backlog: counters.pending,
    inFlight: counters.inFlight,
    limit: view?.limit ?? 0,
    credit: view?.credit ?? NO_CREDIT,
    ...(view?.budgetBalance !== undefined && { budgetBalance: view.budgetBalance }),
    breakers: breakerCounts(state => Number(state === view?.breaker)),
    isKnown: view !== undefined || counters.pending === 0,
    ...(view?.overdueSince !== undefined && { overdueSince: view.overdueSince }),
    ...(view?.heldSince !== undefined && { heldSince: view.heldSince }),
  }
}

function added(left: DestinationReading, right: DestinationReading): DestinationReading {
  const balances = [left, right].flatMap(({ budgetBalance = [] }) => budgetBalance)
  const budgetBalance = balances.length === 0 ? undefined : balances.reduce((sum, balance) => sum + balance)
  const overdueSince = Math.min(left.overdueSince ?? Infinity, right.overdueSince ?? Infinity)
  const heldSince = Math.min(left.heldSince ?? Infinity, right.heldSince ?? Infinity)
  return {
    destination: left.destination,
    backlog: left.backlog + right.backlog,
    inFlight: left.inFlight + right.inFlight,
    limit: left.limit + right.limit,
    credit: {
      first: left.credit.first + right.credit.first,
      retry: left.credit.retry + right.credit.retry,
      late: left.credit.late + right.credit.late,
    },
    ...(budgetBalance !== undefined && { budgetBalance }),
    breakers: breakerCounts(state => left.breakers[state] + right.breakers[state]),
    isKnown: left.isKnown || right.isKnown,
    ...(overdueSince !== Infinity && { overdueSince }),
    ...(heldSince !== Infinity && { heldSince }),
  }
}

function breakerCounts(count: (state: BreakerState) => number): DestinationReading['breakers'] {
  return Object.fromEntries(BREAKER_STATES.map(state => [state, count(state)])) as DestinationReading['breakers']
}
