import assert from 'node:assert/strict'
import { NOT_ARMED, type Alarm } from '@secondwind/resilience'
import { laneKind } from '@secondwind/resilience/rules'
import type { Task } from '../../task/task.ts'
import type { AttemptEnded } from '../../telemetry/events.ts'
import type { Operators } from './operators.test-kit.ts'
import type { SeenRequest } from './scripted-target.test-kit.ts'
import type { World } from './world.test-kit.ts'

export interface LedgerOptions {
  /** Of every lane. */
  readonly limit: number
  readonly rate: { readonly perSecond: number; readonly burst: number }
  /** Retries in any ten seconds, besides one for every first attempt in them. */
  readonly minRetries: number
  /** Of each purse, and the shortest interval of probes. */
  readonly credit: { readonly most: laneKind.PerKind<number>; readonly probeMinMs: number }
  /** Nobody died, stood still or was cut off for long: then no attempt may be called lost. */
  readonly isKind: boolean
  /** Nothing was slow, either: then nothing that is due waits for us. */
  readonly isCalm: boolean
  /** One instance served all the time: what it was given to spend was its own. */
  readonly isAlone: boolean
  /** It never had to take a partition anew: what it has counted it still knows. */
  readonly isUnbroken: boolean
  /** The clocks that leases are measured by could be trusted. */
  readonly areClocksRight: boolean
}

/** How often the counts of lanes are compared with the store's. */
const LANE_LOOK_MS = 37

/** What a calm world's dispatcher may take from a task that is due and may start to its request. */
const MOST_OVERHEAD_MS = 100

/**
 * Sees everything: what callers were told, what destinations saw, what the store says in the end. It knows what none of the
 * processes can know, and says where they broke a promise.
 */
export class Ledger implements Alarm {
  dueAt = 0
  slot: number = NOT_ARMED
  readonly #world: World
  readonly #options: LedgerOptions
  /** How each task ended, and in which generation. */
  readonly #endings = new Map<string, string>()
  readonly #broken: string[] = []
  readonly #starts = new Map<string, Start[]>()
  /** When lanes were last seen with a breaker that is held closed. */
  readonly #forcedAt = new Map<string, number>()
  /** What they have ordered must have been obeyed. */
  operators: Operators | undefined

  constructor(world: World, options: LedgerOptions) {
    this.#world = world
    this.#options = options
    this.ring()
  }

  /** Compares the counts of lanes. Before an alarm rings, all that can go on without the clock has gone on. */
  ring(): void {
    const { clock, leaseBook, running } = this.#world
    void leaseBook.problems(running).then(problems => this.#broken.push(...problems))
    this.dueAt = clock.monotonic() + LANE_LOOK_MS
    clock.arm(this)
  }

  /** A request arrives. */
  onRequest(request: SeenRequest): void {
    if (this.#options.areClocksRight) void this.#checkLease(request)
    const disobeyed = this.operators?.disobeyedBy(request, this.#laneOf(request))
    if (disobeyed !== undefined) this.#broken.push(disobeyed)
    if (!request.process.isUnhurt) return
    const lane = this.#laneOf(request)
    // What a process has sent that died, or stood still, may still be served: nobody can take it back.
    const beside = [...this.#world.destinations.open].filter(
      other => other.process.isUnhurt && this.#laneOf(other) === lane,
    )
    if (beside.length >= this.#options.limit) this.#broken.push(`${lane} has ${beside.length + 1} requests under way`)
    if (!this.#options.isAlone) return
    this.#checkSpending(lane, request)
    if (this.#options.isUnbroken) this.#checkCredit(lane, request)
  }

  /** Between two answers a kind sends no more than its purse may hold, what is under way, and a probe each interval. */
  #checkCredit(lane: string, request: SeenRequest): void {
    const { limit, credit } = this.#options
    const { breaker } = request.process.dispatcher.view(lane)!
    // An operator who holds it closed wants no limit; what is sent by hand needs no credit.
    if (breaker === 'forced-closed') this.#forcedAt.set(lane, request.at)
    const seen = this.#world.destinations.seen.filter(other => this.#laneOf(other) === lane)
    const answeredAt = Math.max(0, ...seen.map(other => (other.isAnswered ? (other.endedAt ?? 0) : 0)))
    if ((this.#forcedAt.get(lane) ?? -1) >= answeredAt - 1) return
    const kind = kindOf(request)
    const counts = (other: SeenRequest): boolean =>
      kindOf(other) === kind && !other.isCut && !this.#world.askedFor.has(other.idempotencyKey)
    const sent = seen.filter(other => other.at > answeredAt && counts(other)).length + 1
    const probes = 1 + (request.at - answeredAt) / (LEAST_OF_INTERVAL * credit.probeMinMs)
    if (counts(request) && sent > credit.most[kind] + limit + probes)
      this.#broken.push(`${lane} was sent ${sent} of kind ${kind} without an answer`)
  }

  /** No rate and no budget is passed, in any stretch of time that ends now. */
  #checkSpending(lane: string, { at, delivery, idempotencyKey }: SeenRequest): void {
    const isFirst = delivery.headers['retry-attempt'] === '1'
    const kind = isFirst ? 'first' : this.#world.askedFor.has(idempotencyKey) ? 'by-hand' : 'retry'
    const starts = [...(this.#starts.get(lane) ?? []), { at, kind }]
    this.#starts.set(lane, starts)
    const { rate, minRetries } = this.#options
    const isTooMany = (start: Start, place: number): boolean =>
      starts.length - place > rate.burst + ((at - start.at) / 1_000) * rate.perSecond + 1e-6
    if (starts.some(isTooMany)) this.#broken.push(`${lane} was sent more than its rate`)
    const since = (ms: number, wanted: string): number =>
      starts.filter(start => start.kind === wanted && start.at > at - ms).length
    // Time leaves a budget's window a tenth at a time: what is younger than nine of them is surely in it.
    const hasNoBudget = since(9_000, 'retry') > Math.max(minRetries, since(10_000, 'first'))
    if (kind === 'retry' && hasNoBudget && this.#options.isUnbroken)
      this.#broken.push(`${lane} was sent more retries than its budget`)
  }

  /** An attempt ended, and is written. */
  onAttempt({ taskId, attemptNumber, overheadMs }: AttemptEnded): void {
    if (this.#options.isCalm && overheadMs > MOST_OVERHEAD_MS)
      this.#broken.push(`attempt ${attemptNumber} of ${taskId} began ${overheadMs} ms late`)
  }

  /** To be called now and then: what has ended stays as it is. */
  async look(): Promise<void> {
    for (const { taskId } of this.#world.accepted) {
      const task = await this.#world.read(taskId)
      const name = `${taskId} ${task.progress.generation}`
      const known = this.#endings.get(name)
      if (known !== undefined) assert.equal(endOf(task), known, 'a task ends once in a generation')
      else if (endOf(task) !== undefined) this.#endings.set(name, endOf(task)!)
    }
  }

  /** When everything is over. */
  async close(): Promise<void> {
    this.#world.clock.disarm(this)
    await this.look()
    assert.deepEqual(this.#broken, [])
    for (const { taskId } of this.#world.accepted) await this.#checkAttempts(taskId)
  }

  /** An attempt counts exactly when a request was sent, or may have been. */
  async #checkAttempts(taskId: string): Promise<void> {
    const { items: rows } = await this.#world.store.attempts({ taskId, limit: 200 })
    const task = await this.#world.read(taskId)
    const lost = rows.filter(row => row.errorCode === 'lost').length
    const sent = this.#world.destinations.seen.filter(request => request.idempotencyKey === taskId).length
    assert.ok(sent <= rows.length, `${taskId}: ${sent} requests were sent, ${rows.length} attempts counted`)
    assert.ok(sent >= rows.length - lost, `${taskId}: ${rows.length} attempts counted, ${sent} sent, ${lost} lost`)
    if (this.#options.isKind) assert.equal(lost, 0, `${taskId} has an attempt that is called lost`)
    const ofThisLife = rows.filter(row => row.generation === task.progress.generation)
    assert.equal(ofThisLife.length, task.progress.attemptNumber, 'every attempt that counts has its row')
    const ordinals = ofThisLife.map(row => row.attemptNumber).toSorted((left, right) => left - right)
    assert.deepEqual(
      ordinals,
      ordinals.map((_, place) => place + 1),
    )
  }

  /** Nobody sends without a lease, not even who slept over it. */
  async #checkLease({ idempotencyKey: taskId }: SeenRequest): Promise<void> {
    const { state } = await this.#world.read(taskId)
    const { now } = await this.#world.store.health()
    if (state.status !== 'IN_FLIGHT' || state.lease.endsAt <= now)
      this.#broken.push(`${taskId} was sent without a lease, ${state.status}`)
  }

  #laneOf({ idempotencyKey }: SeenRequest): string {
    return this.#world.accepted.find(({ taskId }) => taskId === idempotencyKey)!.lane
  }
}

/** Intervals of probes are shortened by up to a fifth. */
const LEAST_OF_INTERVAL = 0.8

function kindOf({ delivery }: SeenRequest): laneKind.StartKind {
  return laneKind.kindAfter(Number(delivery.headers['retry-attempt']) - 1)
}

interface Start {
  readonly at: number
  readonly kind: string
}

function endOf({ state, progress }: Task): string | undefined {
  if (state.status === 'PENDING' || state.status === 'IN_FLIGHT') return undefined
  return JSON.stringify({ ...state, attemptNumber: progress.attemptNumber })
}
