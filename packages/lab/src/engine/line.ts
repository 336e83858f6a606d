/**
 * From a client, or from a tier, to a dependency: the way of an operation, as the library goes it.
 *
 *               gates say yes
 *   begin ──► ask ──────────────► calling ──► end: well, or given up
 *             ▲ │ not yet            │ failed, and `decide` allows another
 *        wake │ ▼                    │
 *             waiting ◄──────────────┘
 *
 *  1. An operation is a row and at most one event: the end of its wait, of its attempt, or of the time without company.
 *  2. A call that was given up goes on at the dependency, unless that cancels; its answer finds nobody.
 *  3. Nothing is called twice at one instant without an event between: no recursion is deeper than the tiers are.
 */
import { decide, firstState, type Moment, type Outcome } from '@secondwind/resilience'
import type { LineMeter } from '../measure/line-meter.ts'
import { ABANDONED, HEDGE, RETRY } from './call-marks.ts'
import { Company } from './company.ts'
import { unlinkCopy } from './copies.ts'
import { OF_OPERATION, OWNERS, type Core } from './core.ts'
import {
  ABORTED,
  AMBIGUOUS,
  BUDGET,
  codeOf,
  DEADLINE,
  faultOf,
  IGNORED,
  KILLED,
  OUTCOMES,
  SUCCESS,
  TRANSIENT,
  WELL,
} from './outcomes.ts'
import type { Pipeline } from './pipeline.ts'
import { GO, type Process } from './process.ts'
import * as field from './rows.ts'
import type { Target } from './target.ts'

const { WIDTH, ATTEMPT, BIRTH, CALL, COPIES, DEADLINE_AT, ENDS_AT, FAULT, HEDGE_AT, LOOP, PARENT } = field
const { PARENT_BIRTH, PLACES, PROCESS, STARTED_AT, TOKEN_AT } = field
const { IN_FLIGHT, MARKS, OPERATION, OUTCOME, SENT_AT, SIBLING } = field

export interface LineSpec {
  readonly index: number
  readonly pipeline: Pipeline
  /** Made when they first call: who never does costs nothing, and windows begin when the first call does. */
  readonly processes: (Process | undefined)[]
  readonly makeProcess: () => Process
  readonly target: Target
  readonly meter: LineMeter
  readonly lateMs: number
  readonly die: () => number
  /** An operation has ended: its client goes on, or the tier that waits for it. */
  readonly onEnd: (row: number, isWell: boolean) => void
}

export class Line {
  readonly #core: Core
  readonly #spec: LineSpec
  readonly #moment: { -readonly [Part in keyof Moment]: Moment[Part] } = { now: 0, roll: 0, expectedCallMs: 0 }
  readonly #isGated: boolean
  readonly #hasBudget: boolean
  readonly #company: Company | undefined

  constructor(core: Core, spec: LineSpec) {
    this.#core = core
    this.#spec = spec
    this.#isGated = spec.pipeline.isGated
    this.#hasBudget = spec.pipeline.budget !== undefined
    this.#company = spec.pipeline.hedge && new Company(core, spec.pipeline, spec.target)
  }

  begin(process: number, loop: number, parent: number, parentBirth: number, deadlineAt: number): void {
    const { operations, clock } = this.#core
    const operation = operations.take()
    const data = operations.data
    const row = operation * WIDTH
    const { now } = clock
    const { processes, makeProcess } = this.#spec
    const { totalBudgetMs } = this.#spec.pipeline.retry
    processes[process] ??= makeProcess()
    data[row + field.LINE] = this.#spec.index
    data[row + PROCESS] = process
    data[row + LOOP] = loop
    data[row + PARENT] = parent
    data[row + PARENT_BIRTH] = parentBirth
    data[row + ATTEMPT] = 0
    data[row + STARTED_AT] = now
    data[row + DEADLINE_AT] = now + totalBudgetMs < deadlineAt ? now + totalBudgetMs : deadlineAt
    data[row + TOKEN_AT] = NaN
    data[row + CALL] = -1
    data[row + FAULT] = SUCCESS
    data[row + PLACES] = 0
    this.#spec.meter.begun()
    this.#ask(operation)
  }

  /** Its event has come: the end of a wait, of an attempt, or of the time without company. */
  wake(operation: number): void {
    const data = this.#core.operations.data
    const row = operation * WIDTH
    if (data[row + CALL]! < 0) this.#ask(operation)
    else if (this.#core.clock.now >= data[row + ENDS_AT]!) this.#timeOut(operation)
    else {
      this.#company!.ask(operation, this.#spec.processes[data[row + PROCESS]!]!)
      this.#arm(operation)
    }
  }

  /** The event of one of its calls has come. */
  ring(call: number): void {
    if (this.#spec.target.ring(call) === 'back') this.#answered(call)
  }

  /** The dependency is done with one of its calls. */
  deliver(call: number): void {
    if (this.#spec.target.answer(call)) this.#answered(call)
  }

  /** Under contention: it has read, and is to write. */
  comeAgain(call: number): void {
    this.#spec.target.comeAgain(call)
  }

  /** The answer of a call that somebody still waits for. */
  #answered(call: number): void {
    const { calls, clock } = this.#core
    const callRow = call * WIDTH
    const operation = calls.data[callRow + OPERATION]!
    const durationMs = clock.now - calls.data[callRow + SENT_AT]!
    let code = calls.data[callRow + OUTCOME]!
    if (code === SUCCESS && durationMs > this.#spec.lateMs) code = TRANSIENT
    const outcome = this.#core.outcomes[code]!
    const inFlight = calls.data[callRow + IN_FLIGHT]!
    const isCopy = (calls.data[callRow + MARKS]! & HEDGE) !== 0
    const data = this.#core.operations.data
    const row = operation * WIDTH
    const process = this.#spec.processes[data[row + PROCESS]!]!
    unlinkCopy(this.#core, row, call)
    this.#spec.target.settle(call, process, outcome)
    if (this.#isGated) process.left()
    if (isCopy) process.settleCopy(outcome)
    calls.release(call)
    // A copy that fails in passing leaves the attempt to those that are still under way.
    if (outcome.kind === 'failure' && outcome.fault !== 'permanent' && data[row + CALL]! >= 0) {
      if (this.#isGated) process.judge(outcome, durationMs, inFlight, clock.now)
      return
    }
    if (data[row + CALL]! >= 0) this.#abandonAll(row, process)
    this.#endAttempt(operation, code, durationMs, inFlight, false)
  }

  #ask(operation: number): void {
    const { clock, agenda, operations } = this.#core
    const { pipeline, processes } = this.#spec
    const data = operations.data
    const row = operation * WIDTH
    const { now } = clock
    if (!(now < data[row + DEADLINE_AT]!)) return this.#end(operation, DEADLINE)
    if (data[row + PARENT]! >= 0 && this.#isOrphan(row)) return this.#end(operation, ABORTED)
    if (this.#core.isKilled(pipeline.name, data[row + ATTEMPT]!)) return this.#end(operation, KILLED)
    const process = processes[data[row + PROCESS]!]!
    if (this.#isGated) {
      const answer = process.enter(operation, now)
      if (answer < GO) return this.#end(operation, -1 - answer)
      if (answer > GO) return agenda.set(operation * OWNERS + OF_OPERATION, Math.min(answer, data[row + DEADLINE_AT]!))
    }
    if (this.#hasBudget && !process.pay(faultOf(this.#core.outcomes[data[row + FAULT]!]!), now))
      return this.#end(operation, BUDGET)
    this.#start(operation, process)
  }

  #start(operation: number, process: Process): void {
    const { clock, operations } = this.#core
    const data = operations.data
    const row = operation * WIDTH
    const { now } = clock
    const attempt = ++data[row + ATTEMPT]!
    const inFlight = this.#isGated ? process.started(row) : 0
    const endsAt = Math.min(now + process.timeoutMs, data[row + DEADLINE_AT]!)
    data[row + ENDS_AT] = endsAt
    data[row + HEDGE_AT] = Infinity
    data[row + COPIES] = 0
    this.#company?.plan(row, process)
    const birth = data[row + BIRTH]!
    this.#spec.target.send(operation, process, attempt === 1 ? 0 : RETRY, inFlight)
    // Armed afterwards: a call may have ended at once. And what comes soon finds its place in the agenda before what comes late.
    if (operations.data[row + BIRTH] === birth && operations.data[row + CALL]! >= 0) this.#arm(operation)
  }

  #arm(operation: number): void {
    const data = this.#core.operations.data
    const row = operation * WIDTH
    const at = Math.min(data[row + ENDS_AT]!, data[row + HEDGE_AT]!)
    if (at !== Infinity) this.#core.agenda.set(operation * OWNERS + OF_OPERATION, at)
  }

  #timeOut(operation: number): void {
    const { calls, clock, operations } = this.#core
    const data = operations.data
    const row = operation * WIDTH
    const process = this.#spec.processes[data[row + PROCESS]!]!
    const first = data[row + CALL]! * WIDTH
    const durationMs = clock.now - calls.data[first + SENT_AT]!
    const inFlight = calls.data[first + IN_FLIGHT]!
    this.#abandonAll(row, process)
    this.#endAttempt(operation, AMBIGUOUS, durationMs, inFlight, true)
  }

  /** The attempt has a result, and no call is under way. */
  #endAttempt(operation: number, code: number, durationMs: number, inFlight: number, isTimeout: boolean): void {
    const { operations, clock, outcomes } = this.#core
    const { pipeline, processes } = this.#spec
    const data = operations.data
    const row = operation * WIDTH
    const { now } = clock
    const outcome = outcomes[code]!
    const process = processes[data[row + PROCESS]!]!
    const paidFor = faultOf(outcomes[data[row + FAULT]!]!)
    if (this.#hasBudget) process.settle(faultOf(outcome), paidFor)
    if (this.#isGated) {
      process.judge(outcome, durationMs, inFlight, now)
      if (pipeline.breaker?.record === 'attempt') process.count(operation, outcome, durationMs, now)
    }
    process.learn(outcome, durationMs, isTimeout)
    if (outcome.kind === 'success') return this.#end(operation, WELL, outcome, durationMs)
    data[row + FAULT] = code
    if (isTimeout && now >= data[row + DEADLINE_AT]!) return this.#end(operation, DEADLINE, outcome)
    this.#decide(operation, process, outcome, durationMs)
  }

  #decide(operation: number, process: Process, outcome: Outcome, durationMs: number): void {
    const { operations, clock, states, agenda } = this.#core
    const { pipeline, die } = this.#spec
    const data = operations.data
    const row = operation * WIDTH
    const { now } = clock
    const fault = faultOf(outcome)!
    const [startedAt, deadlineAt] = [data[row + STARTED_AT]!, data[row + DEADLINE_AT]!]
    const state = states[operation] ?? firstState(pipeline.retry, { startedAt, deadlineAt })
    const moment = this.#moment
    moment.now = now
    moment.roll = die()
    moment.expectedCallMs = process.expectedCallMs
    const decision = decide(pipeline.retry, state, outcome, moment)
    if (decision.kind !== 'retry')
      return this.#end(operation, decision.kind === 'done' ? WELL : codeOf(decision.reason), outcome, durationMs)
    if (this.#hasBudget && !process.covers(fault, now)) return this.#end(operation, BUDGET, outcome, durationMs)
    if (this.#core.isKilled(pipeline.name, data[row + ATTEMPT]!))
      return this.#end(operation, KILLED, outcome, durationMs)
    states[operation] = decision.state
    this.#spec.meter.planned()
    agenda.set(operation * OWNERS + OF_OPERATION, decision.at)
  }

  #end(operation: number, reason: number, outcome?: Outcome, durationMs = 0): void {
    const { operations, clock, states, agenda, outcomes } = this.#core
    const { processes, meter } = this.#spec
    const data = operations.data
    const row = operation * WIDTH
    const { now } = clock
    agenda.clear(operation * OWNERS + OF_OPERATION)
    if (this.#isGated) {
      const process = processes[data[row + PROCESS]!]!
      // Refused before its first attempt, an operation says nothing about the dependency.
      const last = data[row + ATTEMPT] === 0 ? IGNORED_OUTCOME : outcomes[data[row + FAULT]!]!
      process.count(operation, outcome ?? last, durationMs, now)
      process.over(operation, now)
    }
    meter.ended(reason, now - data[row + STARTED_AT]!, data[row + ATTEMPT]!)
    if (states[operation] !== undefined) states[operation] = undefined
    this.#spec.onEnd(row, reason === WELL)
    operations.release(operation)
  }

  #abandonAll(row: number, process: Process): void {
    const { calls, operations } = this.#core
    let call = operations.data[row + CALL]!
    operations.data[row + CALL] = -1
    while (call >= 0) {
      const callRow = call * WIDTH
      const next = calls.data[callRow + SIBLING]!
      if (this.#isGated) process.left()
      if ((calls.data[callRow + MARKS]! & HEDGE) !== 0) process.settleCopy(IGNORED_OUTCOME)
      this.#spec.target.settle(call, process, undefined)
      calls.data[callRow + MARKS]! |= ABANDONED
      this.#spec.target.abandoned(call)
      call = next
    }
  }

  /** The call that it is made for was cancelled. */
  #isOrphan(row: number): boolean {
    const { calls, operations } = this.#core
    return calls.data[operations.data[row + PARENT]! * WIDTH + BIRTH]! !== operations.data[row + PARENT_BIRTH]!
  }
}

const IGNORED_OUTCOME: Outcome = OUTCOMES[IGNORED]!
