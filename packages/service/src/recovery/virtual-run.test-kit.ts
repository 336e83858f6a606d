/** A row against the real dispatcher and a store in memory, in virtual time. */
import { presets, type Random, type RetryPolicy } from '@secondwind/resilience'
import { seededRandom } from '@secondwind/resilience/testing'
import type { Behaviour } from '../dispatch/simulation/scripted-target.test-kit.ts'
import { World } from '../dispatch/simulation/world.test-kit.ts'
import { DEFAULT_CONFIG } from '../config.ts'
import { laneKey, partitionOf } from '../task/lane.ts'
import type { Delivery } from '../targets/target.ts'
import { countedOf, instantsOf } from './row.test-kit.ts'
import type { RequestSeen, Row, Run, TargetRule, TaskSeen } from './row.test-kit.ts'

const TENANT = 'acme'
const TARGET = 'https://target.example'
const NEIGHBOUR = 'https://neighbour.example'

/** By then a new instance serves every partition, and is careful with none of them. */
const SETTLED_MS = 20_000

const STEP_MS = 1_000

/** More than an instance has slots. */
const MOST_LEASES = 1_000

/** Longer than any attempt. */
const FOREVER_MS = 86_400_000

const DEFAULT: RetryPolicy = { ...presets.service.retry, maxAttempts: 50 }

export function runVirtually(row: Row, seed: number): Promise<Run> {
  return new VirtualRun(row, seed).whole()
}

interface Arrival {
  readonly atMs: number
  readonly destination: string
  readonly number: number
}

class VirtualRun {
  readonly #row: Row
  readonly #world: World
  readonly #target: TargetRule
  readonly #random: Random
  readonly #requests: RequestSeen[] = []
  readonly #attempts = new Map<number, number>()
  readonly #deliveredAt = new Map<number, number>()
  readonly #besideAt = new Map<number, number>()
  /** Tasks that are still to be delivered. */
  readonly #waited: Set<number>
  #restartedAtMs: number | undefined

  constructor(row: Row, seed: number) {
    this.#row = row
    this.#target = row.target()
    this.#random = seededRandom(seed + 1)
    this.#waited = new Set(countedOf(row))
    this.#world = new World({
      seed,
      slots: DEFAULT_CONFIG.concurrency,
      policy: { ...DEFAULT, ...row.policy },
      ...(row.limit !== undefined && { lanes: { limit: row.limit } }),
      behaviourOf: (destination, _, delivery) => this.#behaviour(destination, delivery),
    })
  }

  get #atMs(): number {
    return this.#world.clock.monotonic() - SETTLED_MS
  }

  async whole(): Promise<Run> {
    const { clock } = this.#world
    this.#world.start()
    await clock.advance(SETTLED_MS)
    const { killAfterMs = Infinity, endsAtMs } = this.#row
    const arrivals = arrivalsOf(this.#row)
    await this.#arrive(arrivals.filter(({ atMs }) => atMs < killAfterMs))
    if (killAfterMs < Infinity) await this.#restart(killAfterMs)
    await this.#arrive(arrivals.filter(({ atMs }) => atMs >= killAfterMs))
    // At least once: the tasks that arrived last have yet to be sent.
    do await clock.advance(STEP_MS)
    while (this.#waited.size > 0 && this.#atMs < endsAtMs)
    return this.#seen(arrivals)
  }

  async #arrive(arrivals: readonly Arrival[]): Promise<void> {
    for (const { atMs, destination, number } of arrivals) {
      await this.#advanceTo(atMs)
      const request = { targetUrl: `${destination}/${number}`, method: 'POST', headers: {}, body: null }
      await this.#world.enqueue({ tenant: TENANT, destination, request })
    }
  }

  async #restart(atMs: number): Promise<void> {
    await this.#advanceTo(atMs)
    for (const process of this.#world.running) process.kill()
    await this.#endLeases()
    this.#world.start()
    this.#restartedAtMs = atMs
  }

  /**
   * SQLite ends the leases of an earlier process when its file is opened. A store in memory is opened once, so the run puts the
   * tasks back in its place. One difference remains: here the lost attempts are not counted.
   */
  async #endLeases(): Promise<void> {
    const { store } = this.#world
    const partition = partitionOf(laneKey({ tenant: TENANT, destination: TARGET }))
    const { items } = await store.leases({ partitions: [partition], limit: MOST_LEASES })
    await store.settle(items.map(({ taskId, token }) => ({ taskId, token, next: 'put-back' })))
  }

  /** In steps: while a large backlog drains, one long step would ring more alarms than the clock allows. */
  async #advanceTo(atMs: number): Promise<void> {
    while (atMs > this.#atMs) await this.#world.clock.advance(Math.min(STEP_MS, atMs - this.#atMs))
  }

  /** The target's answer, after a note of the request. */
  #behaviour(destination: string, { request, timeoutMs }: Delivery): Behaviour {
    const [task, atMs] = [Number(new URL(request.targetUrl).pathname.slice(1)), this.#atMs]
    if (destination === NEIGHBOUR) {
      this.#besideAt.set(task, atMs)
      return { kind: 'answers', status: 200, ms: 0 }
    }
    const attempt = (this.#attempts.get(task) ?? 0) + 1
    this.#attempts.set(task, attempt)
    const reply = this.#target({ atMs, task, attempt, random: this.#random })
    const isSuccess = reply.kind === 'answers' && reply.status === 200 && reply.afterMs <= timeoutMs
    this.#requests.push({ task, atMs, isSuccess })
    if (reply.kind === 'hangs') return { kind: 'hangs', ms: FOREVER_MS }
    if (isSuccess && !this.#deliveredAt.has(task)) this.#deliveredAt.set(task, atMs + reply.afterMs)
    if (isSuccess) this.#waited.delete(task)
    return { kind: 'answers', status: reply.status, ms: reply.afterMs }
  }

  async #seen(arrivals: readonly Arrival[]): Promise<Run> {
    const seenAt = (destination: string, instants: ReadonlyMap<number, number>): TaskSeen[] =>
      arrivals
        .filter(arrival => arrival.destination === destination)
        .map(({ atMs, number }) => ({ arrivedAtMs: atMs, deliveredAtMs: instants.get(number) ?? Infinity }))
    return {
      row: this.#row,
      tasks: seenAt(TARGET, this.#deliveredAt),
      beside: seenAt(NEIGHBOUR, this.#besideAt),
      requests: this.#requests,
      dead: await this.#world.count('exhausted'),
      ...(this.#restartedAtMs !== undefined && { restartedAtMs: this.#restartedAtMs }),
    }
  }
}

/** In the order in which they come; each lane's tasks are numbered in that order. */
function arrivalsOf({ arrivals, beside }: Row): Arrival[] {
  const [own, neighbours] = [arrivals.flatMap(instantsOf), beside === undefined ? [] : instantsOf(beside)]
  return [
    ...own.map((atMs, number) => ({ atMs, number, destination: TARGET })),
    ...neighbours.map((atMs, number) => ({ atMs, number, destination: NEIGHBOUR })),
  ].toSorted((a, b) => a.atMs - b.atMs)
}
