/** The service in virtual time: tasks arrive, become due, are sent, and are settled by the library's own `decide`. */
import { deadlineOf, decide, firstState } from '@secondwind/resilience'
import type { GiveUpReason, Outcome, RetryPolicy } from '@secondwind/resilience'
import { checkRetryPolicy, classifyResponse, laneCredit, withLaneDefaults } from '@secondwind/resilience/rules'
import type { laneMemory } from '@secondwind/resilience/rules'
import { dieFor, type Die } from '../chance/streams.ts'
import { Agenda } from '../engine/agenda.ts'
import { DEFAULT_DELIVERY, DEFAULT_DELIVERY_POLICY, type DeliveryScenario, type TaskGroup } from './delivery.ts'
import { DeliveryMeter } from './delivery-meter.ts'
import { ScriptedDestination } from './destination.ts'
import { LaneShell, type Admission, type Came } from './lane-shell.ts'
import { attemptsMade, type Task, type UnderWay } from './task.ts'
import { TaskSource } from './task-source.ts'

/** The service writes down what it knows of a lane so often. */
const REMEMBER_EVERY_MS = 5_000

const TIMED_OUT: Outcome = { kind: 'failure', fault: 'ambiguous' }
const LOST: Outcome = TIMED_OUT

/** Events beside those of the sources and the tasks. */
const LOOK = 0
const REMEMBER = 1
const RESTART = 2
const SOURCES = 3

export class DeliveryWorld {
  readonly meter: DeliveryMeter
  readonly #scenario: DeliveryScenario
  readonly #policy: RetryPolicy
  readonly #agenda = new Agenda()
  readonly #destination: ScriptedDestination
  readonly #lane: LaneShell
  readonly #sources: readonly TaskSource[]
  readonly #die: Die
  readonly #tasks: Task[] = []
  #left: number
  /** Kills and starts, in turn. */
  readonly #restarts: number[]
  #isUp = true
  #memory: laneMemory.LaneMemory | undefined
  #now = 0

  constructor(scenario: DeliveryScenario, seed: number) {
    const { tasks, destination, lane = {}, restarts = [], stepMs = DEFAULT_DELIVERY.stepMs } = scenario
    this.meter = new DeliveryMeter(tasks.length, stepMs)
    this.#scenario = scenario
    this.#policy = policyOf(scenario)
    this.#destination = new ScriptedDestination(destination, seed)
    this.#die = dieFor(seed, 'decisions')
    this.#sources = tasks.map(group => new TaskSource(group, seed))
    this.#left = tasks.reduce((sum, { count }) => sum + count, 0)
    this.#restarts = restarts.flatMap(({ atMs, downMs = DEFAULT_DELIVERY.downMs }) => [atMs, atMs + downMs])
    this.#lane = new LaneShell(withLaneDefaults(lane), {
      die: dieFor(seed, 'lane'),
      send: (task, admission, now) => this.#send(task, admission, now),
      expire: task => this.#giveUp(task, 'deadline', attemptsMade(task) === 0),
      recall: (task, dueAt) => this.#wait(task, dueAt),
    })
  }

  /** Until every task has ended, or the time is over. Returns the instant. */
  run(): number {
    for (const place of this.#sources.keys()) this.#planArrival(place)
    this.#planRestart()
    if (this.#restarts.length > 0) this.#agenda.set(REMEMBER, REMEMBER_EVERY_MS)
    const { durationMs } = this.#scenario
    // Ends: every event is an arrival, a task's, or later than the one before it.
    while (this.#left > 0) {
      const event = this.#agenda.next()
      if (event < 0 || this.#agenda.at > durationMs) return durationMs
      this.#now = this.#agenda.at
      this.meter.reach(this.#now)
      this.#ring(event)
    }
    return this.#now
  }

  /** How many events there were. */
  get events(): number {
    return this.#agenda.setEver
  }

  #ring(event: number): void {
    const task = this.#tasks[event - SOURCES - this.#sources.length]
    if (event === REMEMBER) return this.#remember()
    if (event === RESTART) this.#killOrStart()
    else if (task !== undefined) this.#ringTask(task)
    else if (event !== LOOK) this.#arrive(event - SOURCES)
    this.#look()
  }

  #look(): void {
    if (!this.#isUp) return
    const at = this.#lane.look(this.#now)
    if (at === Infinity) this.#agenda.clear(LOOK)
    else this.#agenda.set(LOOK, at)
  }

  #planArrival(place: number): void {
    const at = this.#sources[place]?.next()
    if (at !== undefined) this.#agenda.set(SOURCES + place, at)
  }

  #arrive(place: number): void {
    const group = this.#scenario.tasks[place]
    if (group === undefined) throw new Error(`there is no group ${place}`)
    const task = this.#newTask(group, place)
    this.#tasks.push(task)
    this.meter.arrived(task, this.#now)
    this.#lane.add(task)
    this.#planArrival(place)
  }

  #newTask({ failFirst = 0, attemptsMade: before = 0 }: TaskGroup, group: number): Task {
    const now = this.#now
    const state = firstState(this.#policy, { startedAt: now })
    return {
      id: SOURCES + this.#sources.length + this.#tasks.length,
      group,
      failFirst: failFirst === 'all' ? Infinity : failFirst,
      arrivedAt: now,
      expiresAt: deadlineOf(this.#policy, state),
      state: { ...state, attempt: before + 1 },
      dueAt: now,
      underWay: undefined,
    }
  }

  /** It has become due, or its attempt has ended. */
  #ringTask(task: Task): void {
    const { underWay } = task
    if (underWay === undefined) return this.#lane.add(task)
    const { startedAt } = underWay
    const came = this.#cameOf(underWay)
    const isAnswer = laneCredit.isAnswer(came.outcome, came.status)
    const ended = this.#lane.ended(task, came, this.#now)
    this.meter.cameBack(task, startedAt, isAnswer)
    this.#settle(task, came.outcome, this.#lane.expectedMs)
    if (isAnswer) this.#lane.answered(ended, this.#now)
  }

  /** A response that would come later than now has been cut off by the time-out, or by the deadline. */
  #cameOf({ response: { status, retryAfterMs, afterMs }, startedAt }: UnderWay): Came {
    if (status === undefined || this.#now < startedAt + afterMs) return { outcome: TIMED_OUT, status: undefined }
    const headers = retryAfterMs === undefined ? {} : { 'retry-after-ms': String(retryAfterMs) }
    const { retryableStatusCodes } = this.#policy
    return { outcome: classifyResponse({ status, headers }, retryableStatusCodes, this.#now), status }
  }

  #settle(task: Task, outcome: Outcome, expectedCallMs: number): void {
    const now = this.#now
    task.underWay = undefined
    const decision = decide(this.#policy, task.state, outcome, { now, roll: this.#die(), expectedCallMs })
    switch (decision.kind) {
      case 'done':
        this.meter.groupOf(task).delivered(task, now)
        return this.#end()
      case 'give-up':
        return this.#giveUp(task, decision.reason)
      case 'retry':
        task.state = decision.state
        this.#wait(task, decision.at)
        this.#lane.remember(task, outcome)
    }
  }

  #send(task: Task, admission: Admission, now: number): void {
    const { attempt } = task.state
    const response = this.#destination.answer({ attempt, failFirst: task.failFirst }, now)
    const timeoutMs = Math.min(this.#policy.attemptTimeoutMs, task.expiresAt - now)
    task.underWay = { ...admission, startedAt: now, response }
    this.meter.requested(task, now)
    this.#agenda.set(task.id, now + Math.min(timeoutMs, response.afterMs))
  }

  #wait(task: Task, dueAt: number): void {
    task.dueAt = dueAt
    this.#agenda.set(task.id, dueAt)
  }

  #giveUp(task: Task, reason: GiveUpReason, isUnsent = false): void {
    this.meter.groupOf(task).gaveUp(reason, isUnsent)
    this.#end()
  }

  #end(): void {
    this.#left--
    this.meter.ended()
  }

  #remember(): void {
    if (this.#isUp) this.#memory = this.#lane.memory
    if (this.#restarts.length > 0) this.#agenda.set(REMEMBER, this.#now + REMEMBER_EVERY_MS)
  }

  #planRestart(): void {
    const at = this.#restarts.shift()
    if (at !== undefined) this.#agenda.set(RESTART, at)
  }

  #killOrStart(): void {
    this.#isUp = !this.#isUp
    const lost = this.#tasks.filter(({ underWay }) => underWay !== undefined)
    if (this.#isUp) {
      this.#lane.restart(this.#memory, this.#now)
      // An attempt that may have been carried out counts.
      for (const task of lost) {
        const startedAt = task.underWay?.startedAt ?? this.#now
        this.meter.cameBack(task, startedAt, false)
        this.#settle(task, LOST, 0)
      }
    } else {
      this.#agenda.clear(LOOK)
      for (const { id } of lost) this.#agenda.clear(id)
    }
    this.#planRestart()
  }
}

function policyOf({ policy = {} }: DeliveryScenario): RetryPolicy {
  const { policy: whole } = checkRetryPolicy(policy, DEFAULT_DELIVERY_POLICY)
  if (whole === undefined) throw new Error('the policy was checked before')
  return whole
}
