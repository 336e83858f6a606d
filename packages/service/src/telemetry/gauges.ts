import { Gauge, type Registry } from '@prometheus-io/client'
import { laneKind } from '@secondwind/resilience/rules'
import { CONTROL_LEVELS, SCOPE_KINDS, type Control } from '../task/control.ts'
import { TASK_STATUSES } from '../task/task.ts'
import { BREAKER_STATES, readDestinations, type DestinationReading, type LaneReading } from './destinations.ts'
import type { StoreHealth, WaitingTasks } from '../stores/store.ts'

/** The service as it is at the moment of a scrape. */
export interface ServiceReading {
  /** Absent when the store cannot say. */
  readonly store?: { readonly tasks: WaitingTasks['tasks']; readonly health: StoreHealth } | undefined
  readonly lanes: readonly LaneReading[]
  /** The kill switches that are on. */
  readonly controls: readonly Pick<Control, 'scope' | 'level'>[]
  /** Destinations that are paused: for one tenant, or for all. */
  readonly pauses: number
  /** By the store's clock. */
  readonly now: number
  /** Of the event loop, the longest since the last scrape. */
  readonly loopLagMs: number
}

/** What is now, set anew at every scrape. */
export class Gauges {
  readonly #tasks: Gauge<'status'>
  readonly #oldestDue: Gauge
  readonly #oldestHeld: Gauge
  readonly #storeUp: Gauge
  readonly #clockSkew: Gauge
  readonly #loopLag: Gauge
  readonly #controls: Gauge<'scope' | 'level'>
  readonly #pauses: Gauge
  readonly #ofDestination: readonly DestinationGauge[]
  readonly #breakers: Gauge<'destination' | 'state'>
  readonly #credit: Gauge<'destination' | 'kind'>
  readonly #mostDestinations: number

  constructor(registry: Registry, mostDestinations: number) {
    this.#mostDestinations = mostDestinations
    const registers = [registry]
    const plain = (name: string, help: string): Gauge => new Gauge({ name, help, registers })
    this.#tasks = new Gauge({ name: 'retry_tasks', help: 'Tasks by status.', labelNames: ['status'], registers })
    this.#oldestDue = plain('retry_oldest_due_seconds', OLDEST_DUE)
    this.#oldestHeld = plain('retry_oldest_held_seconds', OLDEST_HELD)
    this.#storeUp = plain('retry_store_up', 'Whether the store can be written to.')
    this.#clockSkew = plain('retry_store_clock_skew_seconds', 'How far the wall clock has gone from the store’s.')
    this.#loopLag = plain('retry_event_loop_lag_seconds', 'The latest that the event loop was since the last scrape.')
    this.#controls = new Gauge({
      name: 'retry_controls_active',
      help: 'Kill switches that are on.',
      labelNames: ['scope', 'level'],
      registers,
    })
    this.#pauses = plain('retry_destinations_paused', 'Destinations that are paused, for one tenant or for all.')
    this.#ofDestination = DESTINATION_GAUGES.map(({ name, help, read }) => {
      const gauge = new Gauge({ name, help, labelNames: ['destination'], registers })
      return { gauge, read }
    })
    this.#breakers = new Gauge({
      name: 'retry_destination_breaker_state',
      help: 'Breakers of the destination in each state.',
      labelNames: ['destination', 'state'],
      registers,
    })
    this.#credit = new Gauge({
      name: 'retry_destination_credit',
      help: 'Attempts of each kind that may be sent before the destination answers.',
      labelNames: ['destination', 'kind'],
      registers,
    })
  }

  show({ store, lanes, controls, pauses, now, loopLagMs }: ServiceReading): void {
    const destinations = readDestinations(lanes, this.#mostDestinations)
    this.#showStore(store)
    this.#loopLag.set(loopLagMs / 1_000)
    this.#showControls(controls)
    this.#pauses.set(pauses)
    showOldest(this.#oldestDue, destinations, reading => secondsSince(reading, reading.overdueSince, now))
    showOldest(this.#oldestHeld, destinations, reading => secondsSince(reading, reading.heldSince, now))
    // What was shown at the last scrape and is gone must not stand there for ever.
    for (const { gauge } of this.#ofDestination) gauge.reset()
    this.#breakers.reset()
    this.#credit.reset()
    for (const reading of destinations) {
      const { destination, breakers, credit } = reading
      for (const { gauge, read } of this.#ofDestination) {
        const value = read(reading, now)
        if (value !== undefined) gauge.set({ destination }, value)
      }
      for (const state of BREAKER_STATES) this.#breakers.set({ destination, state }, breakers[state])
      for (const kind of laneKind.START_KINDS) this.#credit.set({ destination, kind }, credit[kind])
    }
  }

  /** Each of them, also at 0: an alert must see that one is gone. */
  #showControls(controls: ServiceReading['controls']): void {
    for (const kind of SCOPE_KINDS)
      for (const level of CONTROL_LEVELS) {
        const active = controls.filter(control => control.scope.kind === kind && control.level === level)
        this.#controls.set({ scope: kind, level }, active.length)
      }
  }

  #showStore(store: ServiceReading['store']): void {
    this.#storeUp.set(Number(store !== undefined && store.health.problem === undefined))
    // An old number of a store that does not answer would look like a present one.
    this.#tasks.reset()
    if (store === undefined) return
    for (const status of TASK_STATUSES) this.#tasks.set({ status }, store.tasks[status])
    this.#clockSkew.set(store.health.clockSkewMs / 1_000)
  }
}

const OLDEST_DUE = 'How long the task that is due longest, and that no gate holds, has been so.'
const OLDEST_HELD = 'How long ago the first of the tasks that a gate holds was due.'

/** A figure that is not known is left out: 0 would be read as "nothing is due". */
function showOldest(
  gauge: Gauge,
  destinations: readonly DestinationReading[],
  secondsOf: (reading: DestinationReading) => number | undefined,
): void {
  const known = destinations.flatMap(reading => secondsOf(reading) ?? [])
  if (known.length > 0 || destinations.length === 0) gauge.set(Math.max(0, ...known))
  else gauge.remove()
}

interface DestinationGauge {
  readonly gauge: Gauge<'destination'>
  readonly read: (reading: DestinationReading, now: number) => number | undefined
}

const DESTINATION_GAUGES: readonly (Omit<DestinationGauge, 'gauge'> & {
  readonly name: string
  readonly help: string
})[] = [
  { name: 'retry_destination_backlog', help: 'Tasks that wait, due or not.', read: ({ backlog }) => backlog },
  { name: 'retry_destination_in_flight', help: 'Requests under way.', read: ({ inFlight }) => inFlight },
  { name: 'retry_destination_limit', help: 'Requests that may be under way at once.', read: ({ limit }) => limit },
  {
    name: 'retry_destination_budget_balance',
    help: 'Retries that the budget lets start now, where an operator has set one.',
    read: ({ budgetBalance }) => budgetBalance,
  },
  {
    name: 'retry_destination_oldest_due_seconds',
    help: OLDEST_DUE,
    read: (reading, now) => secondsSince(reading, reading.overdueSince, now),
  },
  {
    name: 'retry_destination_oldest_held_seconds',
    help: OLDEST_HELD,
    read: (reading, now) => secondsSince(reading, reading.heldSince, now),
  },
]

function secondsSince({ isKnown }: DestinationReading, since: number | undefined, now: number): number | undefined {
  if (!isKnown) return undefined
  return since === undefined ? 0 : Math.max(0, now - since) / 1_000
}
