/**
 * What operators want, for the lanes that are served here.
 *
 *  1. Every beat says whether something was written since the last reading; then everything is read anew.
 *  2. No attempt begins on a reading older than two seconds: what was ordered is in force by then, over the whole fleet,
 *     or nothing is sent.
 *  3. A lane that was resumed under a stop rule is watched: too many failures, and it is paused again. Each lane is judged
 *     by its own attempts. If a resume for every tenant has the rule, a lane that fails is held alone, until the way back is over.
 */
import {
  creditOver,
  laneCredit,
  withLaneDefaults,
  type lane as lanes,
  type LaneInput,
  type LanePolicy,
} from '@secondwind/resilience/rules'
import { isSameConcern, StandingOrders, type Concerning } from '../steering/standing-orders.ts'
import {
  laneInputOf,
  orderedBack,
  settingsAt,
  without,
  type DestinationLimits,
  type DestinationSettings,
  type Paused,
} from '../task/destination-settings.ts'
import { laneOf } from '../task/lane.ts'
import { NO_ORDERS, type Orders } from '../task/orders.ts'
import { isWatched, seeAttempt, type Watch } from '../task/stop-rule.ts'
import { strictest } from '../task/strictest.ts'
import { SYSTEM } from '../task/system.ts'
import type { DispatchPorts } from './ports.ts'
import type { ServedLane } from './served-lane.ts'
import type { Mark } from './store-calls.ts'

/** What is written is in force everywhere after so long. */
const OLDEST_READING_MS = 2_000

interface SteeringOptions {
  readonly ports: DispatchPorts
  readonly lanes: LaneInput
  /** Something new was read, or what is known was found to be so still. */
  readonly onRead: (isNews: boolean) => void
}

/** How a lane is served: its policy, and what operators have ordered. */
export interface Steered {
  readonly policy: LanePolicy
  readonly orders: Orders
  /** What both were made of. */
  readonly concerning: Concerning
}

export class Steering {
  readonly orders: StandingOrders
  readonly #options: SteeringOptions
  readonly #usual: LanePolicy
  /** Of lanes that have no limits of their own: they share their orders, and so their policy. */
  readonly #policies = new WeakMap<Orders, LanePolicy>()
  #confirmed: Mark | undefined

  constructor(options: SteeringOptions) {
    const { store, calls, events } = options.ports
    this.#options = options
    this.#usual = withLaneDefaults(options.lanes)
    this.orders = new StandingOrders({
      store,
      read: call => calls.read(call),
      onStrange: text => events.warning('strange-settings', text),
    })
    this.orders.onRead(() => options.onRead(true))
  }

  /** A beat that was asked at this moment has been answered with this version. */
  async heard(version: number, asked: Mark): Promise<void> {
    if (!(await this.orders.upTo(version))) return
    const wasFresh = this.isFresh
    this.#confirmed = asked
    if (!wasFresh) this.#options.onRead(false)
  }

  /** Whether an attempt may begin on what is known here. */
  get isFresh(): boolean {
    const { time } = this.#options.ports
    return this.#confirmed !== undefined && time.passedSince(this.#confirmed) <= OLDEST_READING_MS
  }

  /** Another number whenever something new was read: what lanes were told before may be old. */
  get readings(): number {
    return this.orders.readings
  }

  /** Whether a lane is still to be served like that. */
  isInForce(lane: string, { concerning }: Steered): boolean {
    return isSameConcern(concerning, this.orders.concerning(lane))
  }

  steered(lane: string): Steered {
    const concerning = this.orders.concerning(lane)
    const orders = this.orders.ordersFor(lane)
    const { all, own } = this.orders.standingFor(lane)
    const limits = strictest(all?.limits, own?.limits, this.#options.lanes)
    if (limits === undefined) return { policy: this.#policyUnder(orders), orders, concerning }
    const policy = withLaneDefaults(overlaid(this.#options.lanes, limits))
    return { policy: withOrders(policy, orders), orders, concerning }
  }

  #policyUnder(orders: Orders): LanePolicy {
    const policy = this.#policies.get(orders) ?? withOrders(this.#usual, orders)
    this.#policies.set(orders, policy)
    return policy
  }

  /** An attempt of the lane has ended: one of those by which its ways back are judged. */
  saw(lane: ServedLane, { outcome, status }: lanes.EndedCall): void {
    const { watches } = lane.orders
    if (watches.length === 0) return
    const now = this.#options.ports.time.now()
    const hasFailed = laneCredit.hasFailed(outcome, status)
    if (!hasFailed && !laneCredit.isAnswer(outcome, status)) return
    for (const watch of watches) {
      if (!isWatched(watch, now) || !seeAttempt(watch, lane.trialOf(watch), hasFailed)) continue
      lane.endTrial(watch)
      void this.#pauseAgain(lane.key, watch)
    }
  }

  /** Only if the record is still the one that asked for it: whoever wrote another has seen more than we have. */
  async #pauseAgain(id: string, watch: Watch): Promise<void> {
    const { ports } = this.#options
    const { stopOnFailureRate, overLast } = watch
    const known = this.orders.destination(id)
    const now = ports.time.now()
    const { paused, ...standing } = settingsAt(known?.settings ?? {}, now)
    if (paused !== undefined) return
    const reason = `at least ${Math.round(stopOnFailureRate * 100)} % of the last ${overLast} attempts failed while it was coming back`
    const again = { since: now, by: SYSTEM, reason, ...lengthOf(watch) }
    const { tenant, destination } = laneOf(id)
    const document = { ...afterStop(standing, again), paused: again }
    const answer = await ports.calls.ask(() =>
      ports.store.write([{ kind: 'destination', id, tenant, document, ifVersion: known?.version ?? 0 }], {
        tenant,
        actor: SYSTEM,
        action: 'destination.pause',
        subject: destination,
        reason,
      }),
    )
    if (answer?.kind === 'written') ports.events.warning('paused-again', `${id} is paused again: ${reason}`)
    if (answer !== undefined) await this.orders.refresh()
  }
}

/**
 * Who resumed a lane resumes it again. A resume for every tenant may have stopped hundreds of lanes: no operator could resume each of
 * them, so that they try again when that way back is over.
 */
function lengthOf({ of, until, isByOperator }: Watch): Pick<Paused, 'until' | 'isByOperator'> {
  if (of === 'all') return { until }
  return isByOperator ? { isByOperator } : {}
}

/** An order of an operator for the way back outlasts a pause that is not one. */
function afterStop(standing: DestinationSettings, { since, isByOperator }: Paused): DestinationSettings {
  const resumed = isByOperator ? undefined : orderedBack(standing, since)
  return { ...without(standing, 'resumed'), ...(resumed !== undefined && { resumed }) }
}

function withOrders(policy: LanePolicy, orders: Orders): LanePolicy {
  return orders === NO_ORDERS ? policy : { ...policy, orders: orders.lane }
}

function overlaid(usual: LaneInput, limits: DestinationLimits): LaneInput {
  const own = laneInputOf(limits)
  return { ...usual, ...own, ...(own.credit !== undefined && { credit: creditOver(usual.credit, own.credit) }) }
}
