/**
 * Says whether a task finds room to wait. The store counts, and every beat tells the counts. In between an instance adds what
 * it has taken in itself, so that no write of a task needs a counter that all writes share.
 *
 *  1. An instance that is alone takes in nothing beyond a limit. In a fleet each may go over by what the others take in
 *     between two beats.
 *  2. A beat names tenants and lanes that have much. Any other counts as if it had as much as it can have unnamed.
 *  3. Near a limit a task may be refused for up to two seconds after others have ended.
 */
import type { Beat, WaitingTasks } from '../stores/store.ts'
import { fullForCallback, fullScope, type BacklogLimits, type FullScope, type Waiting } from '../task/backlog.ts'
import { laneOfCallback } from '../task/callback.ts'
import { laneKey, type Lane } from '../task/lane.ts'

/** A task that wants to wait: a new one, or a dead letter that comes back. */
export interface Waiter extends Lane {
  readonly callbackUrl?: string | undefined
}

export class Backlog {
  /** How much a tenant or a lane has that is named in a beat. */
  readonly largeFrom: Beat['largeFrom']
  readonly #limits: BacklogLimits
  readonly #isServed: (lane: string) => boolean
  #told: Told = NOTHING
  #since: Tally = new Tally()
  /** Taken in before the latest beat came: its store may have counted before these tasks were written. */
  #before: Tally = new Tally()

  /** `isServed`: this instance has the lane in memory already, so that one more task in it costs no new lane. */
  constructor(limits: BacklogLimits, isServed: (lane: string) => boolean = () => false) {
    this.#limits = limits
    this.#isServed = isServed
    this.largeFrom = largeFromOf(limits)
  }

  /** All tasks by status, as of the latest beat. */
  get tasks(): WaitingTasks['tasks'] {
    return this.#told.tasks
  }

  /** Takes the counts of a beat. */
  heard(waiting: WaitingTasks): void {
    this.#told = toldBy(waiting, this.largeFrom)
    this.#before = this.#since
    this.#since = new Tally()
  }

  /** What a task finds no room in, for itself or for telling its end; undefined when it may wait. */
  verdict({ tenant, destination, callbackUrl }: Waiter): FullScope | undefined {
    const scope = fullScope(this.#waitingBeside({ tenant, destination }), this.#limits)
    if (scope !== undefined || callbackUrl === undefined) return scope
    return fullForCallback(this.#waitingBeside(laneOfCallback({ tenant, callbackUrl })), this.#limits)
  }

  /** Counts a task that goes to the store now: from its verdict on, so that two cannot take the same room. */
  taken({ tenant, destination }: Waiter): void {
    const lane = laneKey({ tenant, destination })
    this.#since.add(tenant, lane, !this.#since.lanes.has(lane) && !this.#isServed(lane))
  }

  #waitingBeside(lane: Lane): Waiting {
    const told = this.#told
    const key = laneKey(lane)
    const ofTenant = told.tenants.get(lane.tenant) ?? told.unnamedTenant
    const ofLane = told.lanes.get(key) ?? Math.min(this.largeFrom.tasks - 1, ofTenant.pending)
    const taken = [this.#since, this.#before]
    const takenOfTenant = taken.map(({ tenants }) => tenants.get(lane.tenant) ?? NONE_TAKEN)
    return {
      ofLane: ofLane + sum(taken, ({ lanes }) => lanes.get(key) ?? 0),
      ofTenant: ofTenant.pending + sum(takenOfTenant, ({ tasks }) => tasks),
      inAll: told.tasks.PENDING + sum(taken, ({ all }) => all.tasks),
      lanes: {
        isOpen: told.lanes.has(key) || taken.some(({ lanes }) => lanes.has(key)) || this.#isServed(key),
        ofTenant: ofTenant.openLanes + sum(takenOfTenant, ({ opened }) => opened),
        inAll: told.openLanes + sum(taken, ({ all }) => all.opened),
      },
    }
  }
}

/** A hundredth of what a lane may have and a thousandth of what all share: a beat names few, and those that come near a limit. */
function largeFromOf({ perLane, total, lanes = Infinity }: BacklogLimits): Beat['largeFrom'] {
  const part = (of: number): number => Math.max(1, Math.floor(Math.min(of, Number.MAX_SAFE_INTEGER)))
  return { tasks: part(Math.min(perLane / 100, total / 1_000)), lanes: part(lanes / 1_000) }
}

/** The counts of a beat, to be looked up. */
interface Told {
  readonly tasks: WaitingTasks['tasks']
  readonly openLanes: number
  readonly tenants: ReadonlyMap<string, TenantCounts>
  readonly lanes: ReadonlyMap<string, number>
  /** The most that a tenant can have without being named. */
  readonly unnamedTenant: TenantCounts
}

interface TenantCounts {
  readonly pending: number
  readonly openLanes: number
}

/** Before the first beat. */
const NOTHING: Told = {
  tasks: { PENDING: 0, IN_FLIGHT: 0, SUCCEEDED: 0, EXHAUSTED: 0, CANCELLED: 0 },
  openLanes: 0,
  tenants: new Map(),
  lanes: new Map(),
  unnamedTenant: { pending: 0, openLanes: 0 },
}

function toldBy({ tasks, openLanes, tenants, lanes }: WaitingTasks, largeFrom: Beat['largeFrom']): Told {
  const rest = (all: number, named: number, large: number): number => Math.max(0, Math.min(large - 1, all - named))
  return {
    tasks,
    openLanes,
    tenants: new Map(tenants.map(({ tenant, ...counts }) => [tenant, counts])),
    lanes: new Map(lanes.map(({ lane, pending }) => [lane, pending])),
    unnamedTenant: {
      pending: rest(
        tasks.PENDING,
        sum(tenants, ({ pending }) => pending),
        largeFrom.tasks,
      ),
      openLanes: rest(
        openLanes,
        sum(tenants, of => of.openLanes),
        largeFrom.lanes,
      ),
    },
  }
}

interface Taken {
  tasks: number
  /** Lanes that had to be opened for them. */
  opened: number
}

const NONE_TAKEN: Readonly<Taken> = { tasks: 0, opened: 0 }

/** What was taken in between two beats. */
class Tally {
  readonly all: Taken = { ...NONE_TAKEN }
  readonly tenants: Map<string, Taken> = new Map()
  readonly lanes: Map<string, number> = new Map()

  add(tenant: string, lane: string, isOpened: boolean): void {
    let ofTenant = this.tenants.get(tenant)
    if (ofTenant === undefined) this.tenants.set(tenant, (ofTenant = { ...NONE_TAKEN }))
    for (const counts of [this.all, ofTenant]) {
      counts.tasks++
      if (isOpened) counts.opened++
    }
    this.lanes.set(lane, (this.lanes.get(lane) ?? 0) + 1)
  }
}

function sum<Item>(items: readonly Item[], countOf: (item: Item) => number): number {
  return items.reduce((all, item) => all + countOf(item), 0)
}
