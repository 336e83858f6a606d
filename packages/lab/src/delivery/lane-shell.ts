/**
 * The shell of a lane, as the service has one. It keeps the tasks that are due, asks the rules of `lane/` what may start, and
 * obeys. There is no rule in it.
 *
 *  1. Of the kinds that may start, the task goes first that is due longest. A probe takes the last one in its turn.
 *  2. A task that cannot end before its deadline is not sent.
 *  3. The first answer after a silence recalls the tasks that failed meanwhile, as far as they are remembered.
 */
import type { Outcome } from '@secondwind/resilience'
import { lane, laneKind, laneMemory, laneRecall, type LanePolicy } from '@secondwind/resilience/rules'
import type { Die } from '../chance/streams.ts'
import { Ends } from './ends.ts'
import { attemptsMade, type Task } from './task.ts'

export interface ShellPorts {
  readonly die: Die
  /** The attempt is paid for. */
  readonly send: (task: Task, admission: Admission, now: number) => void
  /** Its deadline would cut off the attempt. */
  readonly expire: (task: Task) => void
  /** The task is to become due earlier. */
  readonly recall: (task: Task, dueAt: number) => void
}

export interface Admission {
  readonly kind: laneKind.StartKind
  readonly payment: lane.Payment
  readonly inFlight: number
}

/** The result of an attempt that this lane admitted. */
export interface Came {
  readonly outcome: Outcome
  readonly status: number | undefined
}

/** A gate that opens now, and is found shut by a rounding, is looked at again then. */
const LEAST_WAIT_MS = 1

export class LaneShell {
  readonly #policy: LanePolicy
  readonly #ports: ShellPorts
  readonly #ready: laneKind.PerKind<Ends<Task>> = { first: new Ends(), retry: new Ends(), late: new Ends() }
  /** Tasks that failed since the last answer: the latest of them, the oldest first. */
  readonly #failed = new Set<Task>()
  /** Tasks that were recalled, and have not been sent since. */
  readonly #recalled = new Set<Task>()
  #state: lane.LaneState
  #underWay = 0

  constructor(policy: LanePolicy, ports: ShellPorts) {
    this.#policy = policy
    this.#ports = ports
    this.#state = lane.newLane(policy, 0)
  }

  get expectedMs(): number {
    return lane.expectedMs(this.#state)
  }

  get memory(): laneMemory.LaneMemory {
    return laneMemory.memoryOf(this.#policy, this.#state)
  }

  /** The process has stopped. Attempts under way are lost, and the lane goes on from its memory. */
  restart(memory: laneMemory.LaneMemory | undefined, now: number): void {
    this.#state = laneMemory.laneFrom(this.#policy, memory, now)
    this.#underWay = 0
    this.#failed.clear()
  }

  /** The task is due: tasks must come in the order of their `dueAt`. */
  add(task: Task): void {
    this.#ready[laneKind.kindAfter(attemptsMade(task))].add(task)
  }

  /** Starts all that may start now. Returns when to look again; infinity: only after an end, or when a task becomes due. */
  look(now: number): number {
    // Ends: each round takes a task out of its queue.
    for (;;) {
      const allowed = lane.allowance(this.#policy, this.#state, now, this.#underWay)
      const kind = this.#kindToStart(allowed)
      if (kind === undefined) return this.#nextLookAt(allowed, now)
      const ends = this.#ready[kind]
      const task = lane.takesLast(this.#policy, this.#state, kind) ? ends.takeLast() : ends.takeFirst()
      if (task === undefined) throw new Error(`no ${kind} task was due`)
      if (lane.isHopeless(this.#policy, this.#state, task.expiresAt, now)) {
        lane.takeOtherEnd(this.#state, kind)
        this.#ports.expire(task)
      } else this.#start(task, kind, now)
    }
  }

  ended({ underWay }: Task, { outcome, status }: Came, now: number): lane.Ended {
    if (underWay === undefined) throw new Error('the task was not under way')
    const { payment, startedAt, inFlight } = underWay
    this.#underWay--
    const call = { outcome, status, durationMs: now - startedAt, inFlight, roll: this.#ports.die() }
    return lane.end(this.#policy, this.#state, payment, call, now)
  }

  /** The attempt has failed, and the task waits for its next one. */
  remember(task: Task, outcome: Outcome): void {
    this.#failed.delete(task)
    // Its wait is its policy's: a task that was just recalled keeps its own schedule this time.
    const wasRecalled = this.#recalled.delete(task)
    if (wasRecalled || !laneRecall.mayBeRecalled(outcome)) return
    this.#failed.add(task)
    if (this.#failed.size <= laneRecall.MOST_RECALLED) return
    const [oldest] = this.#failed
    if (oldest !== undefined) this.#failed.delete(oldest)
  }

  /** The destination has answered. After a silence all that failed meanwhile comes back. */
  answered({ isBack }: lane.Ended, now: number): void {
    if (isBack)
      for (const task of this.#failed) {
        const dueAt = laneRecall.recallAt(now, this.#ports.die())
        if (dueAt >= task.dueAt) continue
        this.#recalled.add(task)
        this.#ports.recall(task, dueAt)
      }
    this.#failed.clear()
  }

  #start(task: Task, kind: laneKind.StartKind, now: number): void {
    const underWay = this.#underWay
    const allowedUnder = lane.limitAt(this.#policy, this.#state, now)
    const moment = { now, roll: this.#ports.die() }
    const payment = lane.start(this.#policy, this.#state, { kind, underWay, allowedUnder }, moment)
    if (payment === undefined) throw new Error('an attempt was allowed and could not start')
    this.#underWay++
    this.#ports.send(task, { kind, payment, inFlight: this.#underWay }, now)
  }

  #kindToStart(allowed: lane.Allowance): laneKind.StartKind | undefined {
    let longest: laneKind.StartKind | undefined
    let dueAt = Infinity
    for (const kind of laneKind.START_KINDS) {
      const { first } = this.#ready[kind]
      if (allowed[kind] < 1 || first === undefined || first.dueAt >= dueAt) continue
      longest = kind
      ;({ dueAt } = first)
    }
    return longest
  }

  #nextLookAt({ hold, kindHolds }: lane.Allowance, now: number): number {
    const waiting = laneKind.START_KINDS.filter(kind => this.#ready[kind].size > 0)
    if (waiting.length === 0) return Infinity
    const untils = hold === undefined ? waiting.map(kind => kindHolds[kind]?.until) : [hold.until]
    const earliest = Math.min(...untils.map(until => until ?? Infinity))
    return earliest > now ? earliest : now + LEAST_WAIT_MS
  }
}
