/**
 * What operators want, for the lanes that are served here.
 *
 *  1. Every beat says whether something was written since the last reading; then everything is read anew.
 *  2. No attempt begins on a reading older than two seconds: what was ordered is in force by then, over the whole fleet,
 *     or nothing is sent.
 *  3. A destination that comes back is watched: too many failures, and it is paused again.
 */
import { breaker, withLaneDefaults, type LaneInput, type LanePolicy } from '@secondwind/resilience/rules'
import type { Outcome } from '@secondwind/resilience'
import { StandingOrders } from '../steering/standing-orders.ts'
import {
  laneInputOf,
  type DestinationLimits,
  type DestinationSettings,
  type StopRule,
} from '../task/destination-settings.ts'
import { laneOf } from '../task/lane.ts'
import { NO_ORDERS, type Orders } from '../task/orders.ts'
import { newTrial, ruleOf, seeAttempt } from '../task/stop-rule.ts'
import type { DispatchPorts } from './ports.ts'
import type { ServedLane } from './served-lane.ts'
import type { Mark } from './store-time.ts'

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
}

export class Steering {
  readonly orders: StandingOrders
  readonly #options: SteeringOptions
  readonly #usual: Steered
  #confirmed: Mark | undefined

  constructor(options: SteeringOptions) {
    const { store, calls, events } = options.ports
    this.#options = options
    this.#usual = { policy: withLaneDefaults(options.lanes), orders: NO_ORDERS }
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

  steered(lane: string): Steered {
    const orders = this.orders.ordersFor(lane)
    const limits = this.orders.destination(lane)?.settings.limits
    if (orders === NO_ORDERS && limits === undefined) return this.#usual
    const policy = limits === undefined ? this.#usual.policy : withLaneDefaults(overlaid(this.#options.lanes, limits))
    return orders === NO_ORDERS ? { policy, orders } : { policy: { ...policy, orders: orders.lane }, orders }
  }

  /** An attempt of the lane has ended: one of those by which its way back is judged. */
  saw(lane: ServedLane, outcome: Outcome, durationMs: number): void {
    const known = this.orders.destination(lane.key)
    const resumed = known?.settings.resumed
    const rule = ruleOf(resumed, this.#options.ports.time.now())
    if (rule === undefined || resumed === undefined) return
    if (lane.trial?.since !== resumed.since) lane.trial = { since: resumed.since, seen: newTrial() }
    const result = breaker.resultOf(lane.policy.breaker, outcome, durationMs)
    if (result === 'ignored' || !seeAttempt(rule, lane.trial.seen, result === 'failed')) return
    void this.#pauseAgain(lane.key, rule)
  }

  /** Only if the record is still the one that asked for it: whoever wrote another has seen more than we have. */
  async #pauseAgain(id: string, rule: StopRule): Promise<void> {
    const { ports } = this.#options
    const known = this.orders.destination(id)
    if (known === undefined) return
    const reason = `at least ${Math.round(rule.stopOnFailureRate * 100)} % of the last ${rule.overLast} attempts failed while it was coming back`
    const { resumed: _, ...rest } = known.settings
    const settings: DestinationSettings = { ...rest, paused: { since: ports.time.now(), by: 'system', reason } }
    const { tenant, destination } = laneOf(id)
    const answer = await ports.calls.ask(() =>
      ports.store.writeRecord({
        kind: 'destination',
        id,
        tenant,
        document: { ...settings },
        ifVersion: known.version,
        audit: { tenant, actor: 'system', action: 'destination.pause', subject: destination, reason },
      }),
    )
    if (answer?.kind === 'written') ports.events.warning('paused-again', `${id} is paused again: ${reason}`)
    if (answer !== undefined) await this.orders.refresh()
  }
}

function overlaid(usual: LaneInput, limits: DestinationLimits): LaneInput {
  const own = laneInputOf(limits)
  return { ...usual, ...own, ...(own.breaker !== undefined && { breaker: { ...usual.breaker, ...own.breaker } }) }
}
