/**
 * What one process of a client knows about a dependency: everything in its pipeline that counts, limits or remembers.
 * It asks the library's rules, in the library's order, and keeps their states; there is no rule in it.
 */
import { mayStart, record, resultOf, closedBreaker } from '@secondwind/resilience'
import type { BreakerState, Fault, Outcome, Permit } from '@secondwind/resilience'
import {
  bulkhead,
  hedge,
  latency,
  limiter,
  rateLimit,
  replicas,
  throttle,
  timeout,
  startLimit,
  type LimitState,
} from '@secondwind/resilience/rules'
import type { Die } from '../chance/streams.ts'
import { BREAKER_OPEN, faultOf, REFUSED } from './outcomes.ts'
import type { Pipeline } from './pipeline.ts'
import { DEADLINE_AT, HEDGE_AT, PLACES, TOKEN_AT, WIDTH, type Rows } from './rows.ts'

/** What an operation holds for its next attempt. */
const QUEUED = 1
const INSIDE = 2
const ADMITTED = 4
const ROOM = 8

/** Leave to begin; a negative number is a refusal, the reason's code and one more; a positive one the instant to ask again. */
export const GO = 0

export interface ProcessPorts {
  readonly operations: Rows
  readonly die: Die
  /** Lets an operation that waits ask again, at this instant. */
  readonly wake: (operation: number) => void
  /** The permits of operations, by their row. */
  readonly permits: (Permit | undefined)[]
}

export class Process {
  readonly #pipeline: Pipeline
  readonly #ports: ProcessPorts
  readonly #budget: unknown
  readonly #load: unknown
  readonly #breaker: BreakerState | undefined
  readonly #slots = { running: 0, queued: 0 }
  readonly #queue: number[] = []
  readonly #throttle: ReturnType<typeof throttle.startThrottle> | undefined
  readonly #limit: LimitState | undefined
  readonly #bucket: ReturnType<typeof rateLimit.fullBucket> | undefined
  readonly #latencies: ReturnType<typeof latency.noLatencies>
  readonly #limits: { attemptTimeoutMs: number; timeoutsInARow: number }
  #inFlight = 0
  /** Made by whoever has several replicas to choose from. */
  replicas: replicas.ReplicasState | undefined = undefined

  constructor(pipeline: Pipeline, ports: ProcessPorts, now: number) {
    this.#pipeline = pipeline
    this.#ports = ports
    const { budget, load, breaker, throttle: throttled, limiter: limited, rateLimit: rated } = pipeline
    this.#budget = budget?.rule.start(budget.policy, now)
    this.#load = load?.rule.start(load.policy, now)
    this.#breaker = breaker && closedBreaker(breaker, now)
    this.#throttle = throttled && throttle.startThrottle(throttled, now)
    this.#limit = limited && startLimit(limited)
    this.#bucket = rated && rateLimit.fullBucket(rated, now)
    const samples = pipeline.adaptiveTimeout ?? pipeline.hedge
    this.#latencies = latency.noLatencies(samples?.sampleCalls ?? USUAL_SAMPLES)
    this.#limits = { attemptTimeoutMs: pipeline.retry.attemptTimeoutMs, timeoutsInARow: 0 }
  }

  /** Asked before every attempt, in the order of a pipeline's gates. */
  enter(operation: number, now: number): number {
    const data = this.#ports.operations.data
    const row = operation * WIDTH
    if (this.#breaker !== undefined) {
      const answer = mayStart(this.#pipeline.breaker!, this.#breaker, now, this.#ports.permits[operation])
      if (answer.kind === 'no') return -1 - BREAKER_OPEN
      this.#ports.permits[operation] = answer.permit
    }
    if (this.#pipeline.bulkhead !== undefined) {
      const answer = this.#enterBulkhead(operation, now)
      if (answer !== GO) return answer
    }
    if (this.#throttle !== undefined && (data[row + PLACES]! & ADMITTED) === 0) {
      if (!this.#isAdmitted(now)) return -1 - REFUSED
      data[row + PLACES]! |= ADMITTED
    }
    if (this.#limit !== undefined && (data[row + PLACES]! & ROOM) === 0) {
      if (!limiter.hasRoom(this.#limit, this.#inFlight)) return -1 - REFUSED
      this.#inFlight++
      data[row + PLACES]! |= ROOM
    }
    if (this.#bucket === undefined) return GO
    if (Number.isNaN(data[row + TOKEN_AT]!)) {
      const arrival = { now, deadlineAt: data[row + DEADLINE_AT]! }
      const answer = rateLimit.reserve(this.#pipeline.rateLimit!, this.#bucket, arrival)
      if (answer.kind === 'no') return -1 - REFUSED
      data[row + TOKEN_AT] = answer.at
    }
    return data[row + TOKEN_AT]! > now ? data[row + TOKEN_AT]! : GO
  }

  /** While it is queued, the end of its wait stands where an attempt under way keeps its next hedge. */
  #enterBulkhead(operation: number, now: number): number {
    const policy = this.#pipeline.bulkhead!
    const data = this.#ports.operations.data
    const row = operation * WIDTH
    if ((data[row + PLACES]! & (QUEUED | INSIDE)) === 0) {
      const admission = bulkhead.admit(policy, this.#slots)
      if (admission === 'refuse') return -1 - REFUSED
      data[row + PLACES]! |= admission === 'start' ? INSIDE : QUEUED
      if (admission === 'start') this.#slots.running++
      else {
        this.#slots.queued++
        this.#queue.push(operation)
        data[row + HEDGE_AT] = bulkhead.waitEndsAt(policy, { now, deadlineAt: data[row + DEADLINE_AT]! })
      }
    }
    if ((data[row + PLACES]! & INSIDE) !== 0) return GO
    return now < data[row + HEDGE_AT]! ? data[row + HEDGE_AT]! : -1 - REFUSED
  }

  #isAdmitted(now: number): boolean {
    return throttle.admitCall(this.#pipeline.throttle!, this.#throttle!, { now, roll: this.#ports.die() })
  }

  /** A first attempt deposits, a retry after `fault` withdraws; false: it may not begin. */
  pay(fault: Fault | undefined, now: number): boolean {
    const { policy, rule } = this.#pipeline.budget!
    if (fault === undefined) {
      if (policy.whenEmpty === 'deny-calls' && !this.covers('transient', now)) return false
      rule.deposit?.(policy, this.#budget, now)
      return true
    }
    if (!this.covers(fault, now)) return false
    rule.withdraw?.(policy, this.#budget, fault, now)
    return true
  }

  covers(fault: Fault, now: number): boolean {
    const { policy, rule } = this.#pipeline.budget!
    return rule.balance(policy, this.#budget, now) >= rule.price(policy, fault)
  }

  settle(fault: Fault | undefined, paidFor: Fault | undefined): void {
    const { policy, rule } = this.#pipeline.budget!
    rule.settle?.(policy, this.#budget, fault, paidFor)
  }

  /** The attempt begins: what it holds is its call's from now on. Returns the calls under way, for the limiter. */
  started(row: number): number {
    const data = this.#ports.operations.data
    data[row + PLACES] = 0
    data[row + TOKEN_AT] = NaN
    return this.#inFlight
  }

  get timeoutMs(): number {
    const { adaptiveTimeout, retry } = this.#pipeline
    if (adaptiveTimeout === undefined) return retry.attemptTimeoutMs
    return timeout.adaptiveTimeoutMs(adaptiveTimeout, this.#latencies, this.#limits)
  }

  get expectedCallMs(): number {
    return this.#pipeline.learnsLatency ? latency.expectedCallMs(this.#latencies) : 0
  }

  /** The result of an attempt or of a copy, for whoever judges calls. */
  judge(outcome: Outcome, durationMs: number, inFlight: number, now: number): void {
    if (this.#throttle !== undefined) {
      const answer = throttle.answerOf(outcome)
      if (answer !== undefined) throttle.recordAnswer(this.#throttle, answer, now)
    }
    if (this.#limit === undefined) return
    const dropped = limiter.wasDropped(outcome)
    if (dropped === undefined) return
    const roll = this.#ports.die()
    limiter.nextLimit(this.#pipeline.limiter!, this.#limit, { durationMs, inFlight, dropped, roll })
  }

  learn(outcome: Outcome, durationMs: number, isTimeout: boolean): void {
    if (outcome.kind === 'success') {
      this.#limits.timeoutsInARow = 0
      if (this.#pipeline.learnsLatency) latency.recordLatency(this.#latencies, durationMs)
    } else if (isTimeout) this.#limits.timeoutsInARow++
  }

  /** For the breaker, which counts attempts or whole operations. */
  count(operation: number, outcome: Outcome, durationMs: number, now: number): void {
    const permit = this.#ports.permits[operation]
    if (this.#breaker === undefined || permit === undefined) return
    const policy = this.#pipeline.breaker!
    record(policy, this.#breaker, permit, resultOf(policy, outcome, durationMs), now)
    this.#ports.permits[operation] = undefined
  }

  /** A call has left: its slot is free, and so is its place in the limit. */
  left(): void {
    if (this.#limit !== undefined) this.#inFlight--
    if (this.#pipeline.bulkhead !== undefined) this.#release()
  }

  /** The operation is over: what it held for an attempt that is not made is given back. */
  over(operation: number, now: number): void {
    const data = this.#ports.operations.data
    const row = operation * WIDTH
    const places = data[row + PLACES]!
    if ((places & QUEUED) !== 0) {
      this.#queue.splice(this.#queue.indexOf(operation), 1)
      this.#slots.queued--
    }
    if ((places & INSIDE) !== 0) this.#release()
    if ((places & ROOM) !== 0) this.#inFlight--
    if (this.#bucket !== undefined && !Number.isNaN(data[row + TOKEN_AT]!))
      rateLimit.giveBack(this.#bucket, data[row + TOKEN_AT]!, now)
  }

  #release(): void {
    const policy = this.#pipeline.bulkhead!
    this.#slots.running--
    for (let free = bulkhead.mayLeaveQueue(policy, this.#slots); free > 0; free--) {
      const operation = this.#queue.shift()!
      const row = operation * WIDTH
      this.#slots.queued--
      this.#slots.running++
      this.#ports.operations.data[row + PLACES]! ^= QUEUED | INSIDE
      this.#ports.wake(operation)
    }
  }

  /** Hedges are counted in proportion to calls that are none. */
  depositCall(now: number): void {
    const { load } = this.#pipeline
    load!.rule.deposit?.(load!.policy, this.#load, now)
  }

  /** How long a call is left alone; undefined while too little is known. */
  get hedgeDelayMs(): number | undefined {
    return hedge.hedgeDelayMs(this.#pipeline.hedge!, this.#latencies)
  }

  mayHedge(attempt: hedge.HedgedAttempt, delayMs: number, now: number): hedge.HedgeAnswer {
    const { load } = this.#pipeline
    const hedgesLeft = Math.max(0, load!.rule.balance(load!.policy, this.#load, now))
    const moment = { now, delayMs, expectedCallMs: latency.expectedCallMs(this.#latencies), hedgesLeft }
    return hedge.mayHedge(this.#pipeline.hedge!, attempt, moment)
  }

  /** A copy passes what is charged per call, and never waits: its place, paid for, or none. */
  admitCopy(now: number, deadlineAt: number): boolean {
    const { budget, load, bulkhead: room, rateLimit: rated } = this.#pipeline
    if (budget !== undefined && !this.covers('transient', now)) return false
    if (room !== undefined && bulkhead.admit(room, this.#slots) !== 'start') return false
    if (this.#throttle !== undefined && !this.#isAdmitted(now)) return false
    if (this.#limit !== undefined && !limiter.hasRoom(this.#limit, this.#inFlight)) return false
    if (this.#bucket !== undefined) {
      const answer = rateLimit.reserve(rated!, this.#bucket, { now, deadlineAt })
      if (answer.kind === 'yes' && answer.at > now) rateLimit.giveBack(this.#bucket, answer.at, now)
      if (answer.kind === 'no' || answer.at > now) return false
    }
    if (budget !== undefined) budget.rule.withdraw?.(budget.policy, this.#budget, 'transient', now)
    load!.rule.withdraw?.(load!.policy, this.#load, 'transient', now)
    if (room !== undefined) this.#slots.running++
    if (this.#limit !== undefined) this.#inFlight++
    return true
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** A copy that was paid for has ended. */
  settleCopy(outcome: Outcome): void {
    if (this.#pipeline.budget !== undefined) this.settle(faultOf(outcome), 'transient')
  }
}

/** As many as a pipeline keeps that neither hedges nor learns its time-outs. */
const USUAL_SAMPLES = 1_000
