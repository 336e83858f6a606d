/**
 * The ledger of a run, kept outside of the service: what callers submitted, what the service answered, which requests
 * reached the sink, which ends the service showed, and when it was killed. It notes, and says at once what can never be
 * right. `audit.ts` compares it with the service at the end.
 */
import assert from 'node:assert/strict'
import type { Answer } from './orders.ts'

/** A request that reached the sink. */
export interface SinkRequest {
  /** Its number by the header `Retry-Attempt`. */
  readonly attempt: number
  readonly arrivedAt: number
  readonly answer: Answer
  /** Absent while the sink has not answered, and for ever if the connection was gone first. */
  answeredAt?: number
}

export type FinalStatus = 'SUCCEEDED' | 'EXHAUSTED'

/** All that is known of one idempotency key. */
export interface TaskEntry {
  readonly key: string
  readonly requests: SinkRequest[]
  submissions: number
  taskId?: string
  /** As a caller saw it by `GET`. */
  settled?: { readonly status: FinalStatus; readonly at: number }
}

/** One process of the service. */
export interface Life {
  readonly begunAt: number
  /** Absent for the last one, and until then. */
  killedAt?: number
}

interface Counts {
  accepted: number
  settled: number
  /** Submissions whose connection was lost before the answer. */
  unanswered: number
  /** Submissions that the service asked to come again later. */
  refused: number
  /** Submissions of a key that were answered with the task that was there already. */
  existing: number
}

export type Note = { readonly what: string; readonly at: number } & { readonly [field: string]: unknown }

export class Ledger {
  readonly tasks = new Map<string, TaskEntry>()
  readonly lives: Life[] = []
  readonly violations: string[] = []
  readonly counts: Counts = { accepted: 0, settled: 0, unanswered: 0, refused: 0, existing: 0 }
  /** Accepted, and not seen to have ended; the one that was looked at last comes last. */
  readonly unsettled = new Set<TaskEntry>()
  readonly #keys = new Map<string, string>()
  readonly #note: (note: Note) => void

  constructor(note: (note: Note) => void) {
    this.#note = note
  }

  begun(at: number): void {
    this.lives.push({ begunAt: at })
    this.#note({ what: 'begun', at })
  }

  killed(at: number): void {
    const life = this.lives.at(-1)
    if (life !== undefined) life.killedAt = at
    this.#note({ what: 'killed', at })
  }

  submitted(key: string, at: number): void {
    const task = this.tasks.get(key)
    if (task === undefined) this.tasks.set(key, { key, requests: [], submissions: 1 })
    else task.submissions++
    this.#note({ what: 'submitted', at, key })
  }

  unanswered(key: string, at: number): void {
    this.counts.unanswered++
    this.#note({ what: 'unanswered', at, key })
  }

  refused(key: string, at: number, because: string): void {
    this.counts.refused++
    this.#note({ what: 'refused', at, key, because })
  }

  accepted(key: string, answer: { readonly taskId: string; readonly isCreated: boolean }, at: number): void {
    const { taskId, isCreated } = answer
    this.#note({ what: 'accepted', at, key, taskId, isCreated })
    const task = this.tasks.get(key)
    assert.ok(task, `${key} was accepted before it was submitted`)
    if (!isCreated) this.counts.existing++
    if (task.taskId !== undefined) {
      if (task.taskId !== taskId) this.violated(`${key} has two tasks: ${task.taskId} and ${taskId}`, at)
      else if (isCreated) this.violated(`${key} was created a second time, as ${taskId}`, at)
      return
    }
    if (!isCreated && task.submissions === 1)
      this.violated(`${key} was there at its first submission, as ${taskId}`, at)
    const other = this.#keys.get(taskId)
    if (other !== undefined) this.violated(`${key} and ${other} have one task: ${taskId}`, at)
    this.#keys.set(taskId, key)
    task.taskId = taskId
    this.counts.accepted++
    this.unsettled.add(task)
  }

  /** A request has reached the sink, which is going to answer it as it says. */
  arrived(key: string, request: SinkRequest): void {
    const { attempt, arrivedAt, answer } = request
    this.#note({ what: 'arrived', at: arrivedAt, key, attempt, answer })
    const task = this.tasks.get(key)
    if (task === undefined) return this.violated(`${key} reached the sink, and was never submitted`, arrivedAt)
    if (task.settled !== undefined) {
      const agoMs = arrivedAt - task.settled.at
      this.violated(
        `${key}: attempt ${attempt} was sent ${agoMs} ms after it was seen ${task.settled.status}`,
        arrivedAt,
      )
    }
    task.requests.push(request)
  }

  answered(key: string, request: SinkRequest, at: number): void {
    request.answeredAt = at
    this.#note({ what: 'answered', at, key, attempt: request.attempt })
  }

  /** The service has shown an end to a caller. */
  settled(task: TaskEntry, status: FinalStatus, at: number): void {
    this.#note({ what: 'settled', at, key: task.key, status })
    task.settled ??= { status, at }
    if (this.unsettled.delete(task)) this.counts.settled++
  }

  /** The service no longer shows a task that it has accepted, or shows it as no caller has asked for. */
  broken(task: TaskEntry, say: string, at: number): void {
    this.violated(`${task.key}: ${say}`, at)
    this.unsettled.delete(task)
  }

  /** Anything else that can never be right. */
  violated(say: string, at: number): void {
    this.violations.push(say)
    this.#note({ what: 'violation', at, say })
  }
}
