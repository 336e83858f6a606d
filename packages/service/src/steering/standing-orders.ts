import { checkLane } from '@secondwind/resilience/rules'
import { everyRecord } from '../stores/record-pages.ts'
import { Rereading } from '../stores/rereading.ts'
import { documentOf, type RecordKind, type RecordStore, type StoredRecord } from '../stores/store.ts'
import type { Control } from '../task/control.ts'
import { laneInputOf, type DestinationSettings, type Standing } from '../task/destination-settings.ts'
import { EVERY_TENANT, laneKey, laneOf, laneOfAll } from '../task/lane.ts'
import { NO_ORDERS, ordersFor, type Orders } from '../task/orders.ts'
import { ControlsInReach, type InReach, type KnownControl } from './controls-in-reach.ts'

interface StandingOrdersOptions {
  readonly store: Pick<RecordStore, 'records'>
  /** How the store is asked: undefined when it gave no answer. */
  readonly read: <Value>(call: () => Promise<Value>) => Promise<{ readonly value: Value } | undefined>
  /** Told when a record cannot be obeyed: another version of this program wrote it. */
  readonly onStrange?: (text: string) => void
}

export type { KnownControl } from './controls-in-reach.ts'

/** A destination's record, as it was read. */
export interface KnownDestination {
  readonly lane: string
  readonly version: number
  /** One that was removed and made anew has the same versions again. */
  readonly changedAt: number
  readonly settings: DestinationSettings
}

/** All orders for a lane: the same objects from reading to reading, until others are written. */
export interface Concerning {
  readonly inReach: InReach
  readonly all?: KnownDestination | undefined
  readonly own?: KnownDestination | undefined
}

export function isSameConcern(left: Concerning, right: Concerning): boolean {
  return left.inReach === right.inReach && left.all === right.all && left.own === right.own
}

/**
 * The orders of operators, as of the latest reading. They are read whole, and again when the store says that an order was
 * written. Each reader decides whether that is recent enough to act on.
 */
export class StandingOrders {
  readonly #options: StandingOrdersOptions
  readonly #listeners = new Set<() => void>()
  #controls: readonly KnownControl[] = []
  #inReach = new ControlsInReach([])
  /** Of lanes that nothing but controls concerns. */
  readonly #shared = new WeakMap<InReach, Orders>()
  #destinations: ReadonlyMap<string, KnownDestination> = new Map()
  #names: ReadonlyMap<string, string> = new Map()
  #version: number | undefined
  #readings = 0
  readonly #reading = new Rereading(() => this.#readAll())

  constructor(options: StandingOrdersOptions) {
    this.#options = options
  }

  /** All controls that are in force, and those that ended lately. */
  get controls(): readonly KnownControl[] {
    return this.#controls
  }

  get destinations(): Iterable<KnownDestination> {
    return this.#destinations.values()
  }

  destination(lane: string): KnownDestination | undefined {
    return this.#destinations.get(lane)
  }

  /** All settings that hold for a lane: those for every tenant, and those of its own tenant. */
  standingFor(lane: string): Standing {
    if (this.#destinations.size === 0) return NOTHING
    const [all, own] = [laneOfAll(lane), lane].map(id => this.#destinations.get(id)?.settings)
    return all === undefined && own === undefined ? NOTHING : { ...(all && { all }), ...(own && { own }) }
  }

  /** The lane of a destination that was given this name. */
  laneNamed(tenant: string, name: string): string | undefined {
    return this.#names.get(nameKey(tenant, name))
  }

  /** Grows with every reading that may have brought something new. */
  get readings(): number {
    return this.#readings
  }

  /** All that was ordered for a lane, by whomever. */
  concerning(lane: string): Concerning {
    const inReach = this.#inReach.of(laneOf(lane))
    if (this.#destinations.size === 0) return { inReach }
    return { inReach, all: this.#destinations.get(laneOfAll(lane)), own: this.#destinations.get(lane) }
  }

  /** Lanes that the same controls reach, and nothing else concerns, share their orders. */
  ordersFor(lane: string): Orders {
    const { inReach, all, own } = this.concerning(lane)
    const { controls } = inReach
    if (all !== undefined || own !== undefined) return ordersFor(laneOf(lane), controls, this.standingFor(lane))
    if (controls.length === 0) return NO_ORDERS
    const shared = this.#shared.get(inReach) ?? ordersFor(laneOf(lane), controls)
    this.#shared.set(inReach, shared)
    return shared
  }

  /** Told after every reading that may have brought something new. */
  onRead(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Whether the orders that the store had when it named this version are known here. Reads them if need be. */
  async upTo(version: number): Promise<boolean> {
    if (version === this.#version) return true
    if (!(await this.refresh())) return false
    this.#version = version
    return true
  }

  /** Every order that was acknowledged before this call is known when it resolves to true. */
  refresh(): Promise<boolean> {
    return this.#reading.anew()
  }

  async #readAll(): Promise<boolean> {
    const [controls, destinations] = await Promise.all([this.#every('control'), this.#every('destination')])
    if (controls === undefined || destinations === undefined) return false
    this.#controls = controls.map(controlOf)
    this.#inReach = new ControlsInReach(this.#controls, this.#inReach)
    const known = destinations.map(record => this.#known(record) ?? this.#destinationOf(record))
    this.#destinations = new Map(known.map(destination => [destination.lane, destination]))
    this.#names = namesOf(known)
    this.#readings++
    for (const listener of this.#listeners) listener()
    return true
  }

  /** Read before, and not written since. */
  #known({ id, version, changedAt }: StoredRecord): KnownDestination | undefined {
    const known = this.#destinations.get(id)
    return known?.version === version && known.changedAt === changedAt ? known : undefined
  }

  #destinationOf(record: StoredRecord): KnownDestination {
    const { id: lane, version, changedAt } = record
    const { limits, ...settings } = documentOf<DestinationSettings>(record)
    if (limits === undefined) return { lane, version, changedAt, settings }
    const [problem] = checkLane(laneInputOf(limits))
    if (problem === undefined) return { lane, version, changedAt, settings: { ...settings, limits } }
    this.#options.onStrange?.(`${lane}: its limits are not obeyed, for ${problem.at} ${problem.say}`)
    return { lane, version, changedAt, settings }
  }

  /** All of a kind; undefined when there was no answer. */
  async #every(kind: RecordKind): Promise<readonly StoredRecord[] | undefined> {
    const { store, read } = this.#options
    return (await read(() => everyRecord(store, kind)))?.value
  }
}

const NOTHING: Standing = {}

export function controlOf(record: StoredRecord): KnownControl {
  const { id: controlId, tenant, version } = record
  return { ...documentOf<Control>(record), controlId, ...(tenant !== EVERY_TENANT && { tenant }), version }
}

function namesOf(known: readonly KnownDestination[]): Map<string, string> {
  const named = known.flatMap(({ lane, settings: { name } }) => (name === undefined ? [] : [{ lane, name }]))
  return new Map(named.map(({ lane, name }) => [nameKey(laneOf(lane).tenant, name), lane]))
}

function nameKey(tenant: string, name: string): string {
  return laneKey({ tenant, destination: name })
}
