import type { GiveUpReason } from '@secondwind/resilience'
import { Series } from '../measure/series.ts'
import type { Task } from './task.ts'

const ARRIVED = 0
const ENDED = 1
const ANSWERED = 2
const FAILED = 3

export interface Delivered {
  readonly arrivedAtMs: number
  readonly atMs: number
}

/** What happened to the tasks of one group. */
export class GroupMeter {
  requests = 0
  failedAttempts = 0
  /** Tasks that ended without one attempt. */
  unsent = 0
  readonly reasons: Map<GiveUpReason, number> = new Map()
  readonly arrivedAtMs: number[] = []
  readonly deliveries: Delivered[] = []

  delivered({ arrivedAt: arrivedAtMs }: Task, atMs: number): void {
    this.deliveries.push({ arrivedAtMs, atMs })
  }

  gaveUp(reason: GiveUpReason, isUnsent: boolean): void {
    this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + 1)
    if (isUnsent) this.unsent++
  }
}

/** Tasks and requests, counted in steps of time. */
export class DeliveryMeter {
  readonly groups: readonly GroupMeter[]
  readonly #stepMs: number
  readonly #series = new Series(4)
  readonly #requestsAtMs: number[] = []
  #step = 0

  constructor(groups: number, stepMs: number) {
    this.groups = Array.from({ length: groups }, () => new GroupMeter())
    this.#stepMs = stepMs
  }

  /** To be called before anything is counted at an instant. */
  reach(now: number): void {
    this.#step = Math.floor(now / this.#stepMs)
    this.#series.begin(this.#step)
  }

  arrived(task: Task, now: number): void {
    this.groupOf(task).arrivedAtMs.push(now)
    this.#series.add(this.#step, ARRIVED, 1)
  }

  requested(task: Task, now: number): void {
    this.groupOf(task).requests++
    this.#requestsAtMs.push(now)
  }

  /** A request counts in the step in which it was made. */
  cameBack(task: Task, startedAt: number, isAnswer: boolean): void {
    if (!isAnswer) this.groupOf(task).failedAttempts++
    this.#series.add(Math.floor(startedAt / this.#stepMs), isAnswer ? ANSWERED : FAILED, 1)
  }

  ended(): void {
    this.#series.add(this.#step, ENDED, 1)
  }

  groupOf({ group }: Task): GroupMeter {
    const meter = this.groups[group]
    if (meter === undefined) throw new Error(`there is no group ${group}`)
    return meter
  }

  /** Requests that were made within any of these spans. */
  requestsWithin(spans: readonly { readonly fromMs: number; readonly untilMs: number }[]): number {
    return this.#requestsAtMs.filter(at => spans.some(({ fromMs, untilMs }) => fromMs <= at && at < untilMs)).length
  }

  get perStep(): DeliverySteps {
    const ended = this.#series.column(ENDED)
    let waits = 0
    return {
      waiting: this.#series.column(ARRIVED).map((arrived, step) => (waits += arrived - (ended[step] ?? 0))),
      answered: this.#series.column(ANSWERED),
      failed: this.#series.column(FAILED),
    }
  }
}

export interface DeliverySteps {
  /** Tasks that have not ended at the end of the step. */
  readonly waiting: readonly number[]
  /** Requests that were made in the step, by their result. */
  readonly answered: readonly number[]
  readonly failed: readonly number[]
}
