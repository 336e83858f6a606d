import type { NewTask } from '../../task/accept.ts'
import type { Waiting } from '../../task/backlog.ts'
import { callbackOf } from '../../task/callback.ts'
import { laneKey, partitionOf, queueKey, type Lane } from '../../task/lane.ts'
import type { AttemptRow, Queue, Task, TaskStatus } from '../../task/task.ts'
import { CallbackBook } from './callback-book.ts'
import { CauseBook } from './cause-book.ts'
import { Line, type Place } from './line.ts'
import { ReplayBook } from './replay-book.ts'

/** A task, and what only the store knows of it. */
export interface Entry {
  /** Replaced as a whole by every write, so that what was read stays as it was. */
  task: Task
  /** The order of arrival. */
  readonly number: number
  readonly lane: string
  readonly partition: number
  readonly requestHash: string
  readonly keyGiven: boolean
  readonly attempts: AttemptRow[]
  /** When a claim took the task and where it found it, and who claimed; meaningful while it is under way. */
  claimed: Claimed | undefined
  /** What the last settle was answered with. */
  settled: { readonly token: string; readonly status: TaskStatus } | undefined
}

interface Claimed {
  readonly at: number
  readonly dueAt: number
  readonly queue: Queue
  readonly steward: string
}

/** The waiting tasks of one queue. */
export interface WaitingQueue {
  readonly lane: string
  readonly queue: string
  /** Stands for it in its partition's list, for as long as it has a task. */
  readonly number: number
  readonly line: Line<Entry>
}

/** How many tasks of a lane are in each status, and how many attempts were made. */
export type Tally = { [status in TaskStatus]: number } & { attempts: number; firstAttempts: number }

/**
 * All tasks, and every order in which they are asked for. `write` is the one way in which a task changes: it leaves each
 * index and counter, and enters them again, so that none can be forgotten.
 */
export class Book {
  readonly arrivals: Line<Entry> = new Line()
  /** `SUCCEEDED` and `CANCELLED` tasks by their end. */
  readonly finished: Line<Entry> = new Line()
  readonly dead: Line<Entry> = new Line()
  readonly causes: CauseBook = new CauseBook()
  readonly replays: ReplayBook = new ReplayBook()
  readonly callbacks: CallbackBook = new CallbackBook()
  readonly lanes: Map<string, Tally> = new Map()
  readonly total: Tally = emptyTally()
  /** Of each tenant that has a task waiting. */
  readonly #waitingOf = new Map<string, number>()
  /** Lanes with a task that waits or is under way, of each tenant that has one. */
  readonly #openLanesOf = new Map<string, number>()
  #openLanes = 0
  readonly #byId = new Map<string, Entry>()
  readonly #byKey = new Map<string, Entry>()
  readonly #queues = new Map<string, WaitingQueue>()
  readonly #queuesOf = new Map<number, Line<WaitingQueue>>()
  readonly #leasesOf = new Map<number, Line<Entry>>()
  #lastNumber = 0

  find(taskId: string): Entry | undefined {
    return this.#byId.get(taskId)
  }

  /** A task that was not given a key has its id for one. */
  findByKey(tenant: string, key: string): Entry | undefined {
    const entry = this.#byKey.get(keyName(tenant, key))
    if (entry !== undefined) return entry
    const keyless = this.#byId.get(key)
    return keyless?.keyGiven === false && keyless.task.tenant === tenant ? keyless : undefined
  }

  waitingBeside(task: Lane): Waiting {
    const tally = this.lanes.get(laneKey(task)) ?? emptyTally()
    return {
      ofLane: tally.PENDING,
      ofTenant: this.#waitingOf.get(task.tenant) ?? 0,
      inAll: this.total.PENDING,
      lanes: {
        isOpen: isOpen(tally),
        ofTenant: this.#openLanesOf.get(task.tenant) ?? 0,
        inAll: this.#openLanes,
      },
    }
  }

  queue(lane: string, queue: string): WaitingQueue | undefined {
    return this.#queues.get(queueName(lane, queue))
  }

  queuesOf(partition: number): Line<WaitingQueue> {
    return lineOf(this.#queuesOf, partition)
  }

  leasesOf(partition: number): Line<Entry> {
    return lineOf(this.#leasesOf, partition)
  }

  add(task: NewTask): Entry {
    const { queue, dueAt, requestHash, keyGiven, upload: _, ...accepted } = task
    const lane = laneKey(accepted)
    const entry: Entry = {
      task: { ...accepted, state: { status: 'PENDING', nextAttemptAt: dueAt, queue }, version: 1 },
      number: ++this.#lastNumber,
      lane,
      partition: partitionOf(lane),
      requestHash,
      keyGiven,
      attempts: [],
      claimed: undefined,
      settled: undefined,
    }
    this.#byId.set(accepted.taskId, entry)
    if (keyGiven) this.#byKey.set(keyName(accepted.tenant, accepted.idempotencyKey), entry)
    this.arrivals.add(arrivalOf(entry), entry)
    this.#enter(entry)
    return entry
  }

  write(entry: Entry, change: Pick<Task, 'state'> & Partial<Pick<Task, 'progress' | 'lastAttempt'>>): Task {
    const before = entry.task
    this.#leave(entry)
    entry.task = { ...before, ...change, version: before.version + 1 }
    this.#enter(entry)
    this.replays.count(before, entry.task)
    const callback = callbackOf(entry.task)
    if (callback !== undefined) this.callbacks.add(callback)
    return entry.task
  }

  addAttempt(entry: Entry, attempt: AttemptRow): void {
    entry.attempts.push(attempt)
    for (const tally of this.#tallies(entry)) {
      tally.attempts++
      if (attempt.attemptNumber === 1) tally.firstAttempts++
    }
  }

  forget(entry: Entry): void {
    this.#leave(entry)
    this.arrivals.remove(arrivalOf(entry))
    this.#byId.delete(entry.task.taskId)
    if (entry.keyGiven) this.#byKey.delete(keyName(entry.task.tenant, entry.task.idempotencyKey))
  }

  #enter(entry: Entry): void {
    this.#count(entry, 1)
    const { state } = entry.task
    switch (state.status) {
      case 'PENDING':
        return this.#standIn(entry, queueKey(state.queue)).line.add(placeOf(entry, state.nextAttemptAt), entry)
      case 'IN_FLIGHT':
        return this.leasesOf(entry.partition).add(placeOf(entry, state.lease.endsAt), entry)
      case 'SUCCEEDED':
      case 'CANCELLED':
        return this.finished.add(placeOf(entry, state.endedAt), entry)
      case 'EXHAUSTED':
        this.dead.add(placeOf(entry, state.endedAt), entry)
        return this.causes.add(entry.task, state)
    }
  }

  #leave(entry: Entry): void {
    this.#count(entry, -1)
    const { state } = entry.task
    switch (state.status) {
      case 'PENDING':
        return this.#leaveQueue(entry, queueKey(state.queue), placeOf(entry, state.nextAttemptAt))
      case 'IN_FLIGHT':
        return this.leasesOf(entry.partition).remove(placeOf(entry, state.lease.endsAt))
      case 'SUCCEEDED':
      case 'CANCELLED':
        return this.finished.remove(placeOf(entry, state.endedAt))
      case 'EXHAUSTED':
        this.dead.remove(placeOf(entry, state.endedAt))
        return this.causes.remove(entry.task, state)
    }
  }

  #count(entry: Entry, one: 1 | -1): void {
    const { tenant, state } = entry.task
    const [, ofLane] = this.#tallies(entry)
    const wasOpen = isOpen(ofLane)
    for (const tally of this.#tallies(entry)) tally[state.status] += one
    if (state.status === 'PENDING') countOf(this.#waitingOf, tenant, one)
    if (isOpen(ofLane) === wasOpen) return
    countOf(this.#openLanesOf, tenant, one)
    this.#openLanes += one
  }

  #tallies({ lane }: Entry): readonly [Tally, Tally] {
    let tally = this.lanes.get(lane)
    if (tally === undefined) this.lanes.set(lane, (tally = emptyTally()))
    return [this.total, tally]
  }

  #standIn({ lane, partition }: Entry, queue: string): WaitingQueue {
    const present = this.queue(lane, queue)
    if (present !== undefined) return present
    const created = { lane, queue, number: ++this.#lastNumber, line: new Line<Entry>() }
    this.#queues.set(queueName(lane, queue), created)
    this.queuesOf(partition).add({ at: 0, number: created.number }, created)
    return created
  }

  #leaveQueue({ lane, partition }: Entry, queue: string, place: Place): void {
    const { line, number } = this.queue(lane, queue)!
    line.remove(place)
    if (!line.isEmpty) return
    this.#queues.delete(queueName(lane, queue))
    this.queuesOf(partition).remove({ at: 0, number })
  }
}

function placeOf({ number }: Entry, at: number): Place {
  return { at, number }
}

function arrivalOf({ number }: Entry): Place {
  return { at: 0, number }
}

function lineOf<Item>(lines: Map<number, Line<Item>>, partition: number): Line<Item> {
  let line = lines.get(partition)
  if (line === undefined) lines.set(partition, (line = new Line()))
  return line
}

function countOf(counts: Map<string, number>, tenant: string, one: 1 | -1): void {
  const count = (counts.get(tenant) ?? 0) + one
  if (count === 0) counts.delete(tenant)
  else counts.set(tenant, count)
}

function isOpen({ PENDING, IN_FLIGHT }: Tally): boolean {
  return PENDING + IN_FLIGHT > 0
}

function emptyTally(): Tally {
  return { PENDING: 0, IN_FLIGHT: 0, SUCCEEDED: 0, EXHAUSTED: 0, CANCELLED: 0, attempts: 0, firstAttempts: 0 }
}

/** Tenants and lanes hold no line break, so that no two pairs have one name. */
function keyName(tenant: string, key: string): string {
  return `${tenant}\n${key}`
}

function queueName(lane: string, queue: string): string {
  return `${lane}\n${queue}`
}
