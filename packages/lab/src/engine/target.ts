import type { Outcome } from '@secondwind/resilience'
import { replicas } from '@secondwind/resilience/rules'
import type { Draw } from '../chance/draws.ts'
import type { Die } from '../chance/streams.ts'
import { ABANDONED, LOST, RETURNING, SERVED, TRAVELLING } from './call-marks.ts'
import { OF_CALL, OWNERS, type Core } from './core.ts'
import type { Process } from './process.ts'
import * as field from './rows.ts'
import type { Station } from './station.ts'

const { CALL, ENDS_AT, EXPIRES_AT, IN_FLIGHT, MARKS, OPERATION, PHASE, SENT_AT, SIBLING } = field
const { ROUTE, STATION, WIDTH } = field

export interface TargetSpec {
  /** The number of the line. */
  readonly route: number
  /** Of each replica, in the order of the policy's list. */
  readonly stations: readonly Station[]
  /** One way, to each of them; absent: no time at all. */
  readonly delaysMs: readonly Draw[] | undefined
  readonly loss: number
  readonly die: Die
  readonly replicas: ReplicasPolicy | undefined
}

type ReplicasPolicy = Parameters<typeof replicas.chooseReplica>[0]

/** A dependency as one line of callers sees it: its replicas, and the network before them. */
export class Target {
  readonly #core: Core
  readonly #spec: TargetSpec
  /** The choices of operations that have called more than one replica, and of calls, by row. */
  readonly #tried: replicas.ReplicaChoice[][] = []
  readonly #choices: (replicas.ReplicaChoice | undefined)[] = []

  constructor(core: Core, spec: TargetSpec) {
    this.#core = core
    this.#spec = spec
  }

  send(operation: number, process: Process, marks: number, inFlight: number): void {
    const { calls, clock, operations } = this.#core
    const call = calls.take()
    const row = call * WIDTH
    const operationRow = operation * WIDTH
    const { data } = calls
    data[row + OPERATION] = operation
    data[row + MARKS] = marks
    data[row + ROUTE] = this.#spec.route
    data[row + SENT_AT] = clock.now
    data[row + EXPIRES_AT] = operations.data[operationRow + ENDS_AT]!
    data[row + IN_FLIGHT] = inFlight
    data[row + SIBLING] = operations.data[operationRow + CALL]!
    operations.data[operationRow + CALL] = call
    const choice = this.#spec.replicas && this.#choose(this.#spec.replicas, { operation, call, process, marks })
    data[row + STATION] = choice?.place ?? 0
    this.#travel(call, choice?.waitMs ?? 0)
  }

  /** Its event has come: it has arrived, has been served, or is back. */
  ring(call: number): 'back' | undefined {
    const { data } = this.#core.calls
    const row = call * WIDTH
    const station = this.#spec.stations[data[row + STATION]!]!
    switch (data[row + PHASE]!) {
      case TRAVELLING:
        station.arrive(call)
        return undefined
      case SERVED:
        station.served(call)
        return undefined
      default:
        return 'back'
    }
  }

  /** Done at the dependency: on its way back. True when it takes no time. */
  answer(call: number): boolean {
    const { data } = this.#core.calls
    const row = call * WIDTH
    if ((data[row + MARKS]! & ABANDONED) !== 0) {
      this.#core.calls.release(call)
      return false
    }
    data[row + PHASE] = RETURNING
    return this.#hop(call, 0)
  }

  /** Under contention a call goes back with what it has read, and comes again. */
  comeAgain(call: number): void {
    const delays = this.#spec.delaysMs
    const extraMs = delays === undefined ? 0 : delays[this.#core.calls.data[call * WIDTH + STATION]!]!()
    this.#travel(call, extraMs)
  }

  /** Its caller has given it up, and keeps no memory of it. */
  abandoned(call: number): void {
    const { calls, agenda } = this.#core
    const row = call * WIDTH
    const phase = calls.data[row + PHASE]!
    const station = this.#spec.stations[calls.data[row + STATION]!]!
    if (phase === LOST || phase === RETURNING || station.abandon(call)) {
      agenda.clear(call * OWNERS + OF_CALL)
      calls.release(call)
    }
  }

  /** What came of a call, for the replica that it went to; undefined: nothing that says anything. */
  settle(call: number, process: Process, outcome: Outcome | undefined): void {
    const { replicas: policy, die } = this.#spec
    const choice = this.#choices[call]
    if (policy === undefined || choice === undefined) return
    this.#choices[call] = undefined
    if (outcome === undefined) return
    const failed = outcome.kind === 'failure' && outcome.fault !== 'permanent'
    const result = { failed, now: this.#core.clock.now, roll: die() }
    replicas.settleReplica(policy, process.replicas!, choice, result)
  }

  #travel(call: number, extraMs: number): void {
    const row = call * WIDTH
    this.#core.calls.data[row + PHASE] = TRAVELLING
    if (this.#hop(call, extraMs)) this.#spec.stations[this.#core.calls.data[row + STATION]!]!.arrive(call)
  }

  /** One way over the network, unless it takes no time: then true, and nothing is to be waited for. */
  #hop(call: number, extraMs: number): boolean {
    const { calls, clock, agenda } = this.#core
    const { delaysMs, loss, die } = this.#spec
    const row = call * WIDTH
    if (loss > 0 && die() < loss) {
      calls.data[row + PHASE] = LOST
      return false
    }
    if (delaysMs === undefined && extraMs === 0) return true
    const delayMs = delaysMs === undefined ? 0 : delaysMs[calls.data[row + STATION]!]!()
    agenda.set(call * OWNERS + OF_CALL, clock.now + extraMs + delayMs)
    return false
  }

  #choose(policy: ReplicasPolicy, asked: Asked): replicas.ReplicaChoice {
    const { operation, call, process, marks } = asked
    const { clock } = this.#core
    const { die } = this.#spec
    process.replicas ??= replicas.healthyReplicas(policy, die())
    const tried = marks === 0 ? [] : (this.#tried[operation] ?? [])
    const choice = replicas.chooseReplica(policy, process.replicas, { now: clock.now, roll: die(), tried })
    this.#tried[operation] = [...tried, choice]
    this.#choices[call] = choice
    return choice
  }
}

interface Asked {
  readonly operation: number
  readonly call: number
  readonly process: Process
  readonly marks: number
}
