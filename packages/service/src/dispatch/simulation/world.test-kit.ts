import assert from 'node:assert/strict'
import { DEFAULT_POLICY, type RetryPolicy } from '@secondwind/resilience'
import type { LaneInput } from '@secondwind/resilience/rules'
import { seededRandom, virtualClock, type VirtualClock } from '@secondwind/resilience/testing'
import type { Random } from '@secondwind/resilience'
import type { BodyStore, KeptBody } from '../../bodies/body-store.ts'
import { openMemoryBodies } from '../../bodies/memory/memory-bodies.ts'
import { neededAfterUpload } from '../../bodies/needed-until.ts'
import { policyVersionRecord } from '../../policies/policy-book.ts'
import { openMemoryStore } from '../../stores/sqlite/sqlite-store.ts'
import { documentOf, type Hint, type LaneCounters, type Steward, type Store } from '../../stores/store.ts'
import { accept, INLINE_POLICY, type PolicyInForce, type TaskOrder } from '../../task/accept.ts'
import type { Delivery } from '../../targets/target.ts'
import { EVERY_TENANT, laneKey, laneOf, partitionOf, TASK_ID_BYTES, taskIdOf, type Lane } from '../../task/lane.ts'
import type { StoredBody, Task } from '../../task/task.ts'
import type { DispatchEvents } from '../../telemetry/events.ts'
import { createDispatcher } from '../dispatcher.ts'
import type { DispatchPorts, TaskPolicies } from '../ports.ts'
import type { SigningSecretsOf } from '../signature.ts'
import { faultyStore, WELL, type FateOf } from './faulty-store.test-kit.ts'
import { SimulatedProcess } from './instance.test-kit.ts'
import { LeaseBook } from './lease-book.test-kit.ts'
import { Destinations, type Behaviour, type SeenRequest } from './scripted-target.test-kit.ts'

export interface WorldOptions {
  readonly seed?: number
  readonly slots?: number
  readonly lanes?: LaneInput
  readonly listAgainMs?: number
  readonly policy?: Partial<RetryPolicy>
  readonly behaviourOf?: (destination: string, at: number, delivery: Delivery) => Behaviour
  readonly fateOf?: FateOf
  readonly hintDelayMs?: (hint: Hint) => number | undefined
  readonly onRequest?: (request: SeenRequest) => void
  readonly events?: Partial<DispatchEvents>
  readonly onWaiting?: DispatchPorts['onWaiting']
  readonly signingSecretsOf?: SigningSecretsOf
}

export type Order = Partial<TaskOrder> & {
  readonly policy?: Partial<RetryPolicy>
  /** A large body to send. */
  readonly storedBody?: StoredBody
}

/** A task that its caller was told of. */
export interface Accepted {
  readonly taskId: string
  readonly lane: string
  readonly policy: RetryPolicy
}

const QUIET: DispatchEvents = {
  attemptEnded() {},
  taskChanged() {},
  taskEnded() {},
  held() {},
  breakerChanged() {},
  orphan() {},
  warning() {},
}

const MOST_LANES = 1_000

const QUICK: Behaviour = { kind: 'answers', status: 200, ms: 20 }

/** A store, its destinations and the processes between them, all in one virtual time. */
export class World {
  readonly clock: VirtualClock = virtualClock()
  readonly random: Random
  readonly store: Store
  readonly bodies: BodyStore
  readonly destinations: Destinations
  readonly processes: SimulatedProcess[] = []
  readonly leaseBook: LeaseBook
  readonly accepted: Accepted[] = []
  /** Tasks of which an attempt was asked for by hand. */
  readonly askedFor = new Set<string>()
  /** What the store's own clock is ahead of the world's. */
  storeOffsetMs = 0
  readonly #options: WorldOptions
  #tokens = 0

  constructor(options: WorldOptions = {}) {
    this.#options = options
    this.random = seededRandom(options.seed ?? 1)
    const { clock } = this
    const offset = (ms: number): number => ms + this.storeOffsetMs
    const storeClock = { now: () => offset(clock.now()), monotonic: () => offset(clock.monotonic()) }
    this.store = openMemoryStore({ clock: storeClock })
    this.leaseBook = new LeaseBook(this.store)
    this.bodies = openMemoryBodies({ clock })
    this.destinations = new Destinations({
      clock,
      behaviourOf: options.behaviourOf ?? (() => QUICK),
      ...(options.onRequest !== undefined && { onRequest: options.onRequest }),
    })
  }

  get running(): SimulatedProcess[] {
    return this.processes.filter(({ state }) => state === 'running')
  }

  /** Another instance, from its first beat on. */
  start(name = `instance-${this.processes.length + 1}`): SimulatedProcess {
    const { slots = 20, lanes, listAgainMs, fateOf = () => WELL, hintDelayMs = () => 0, events } = this.#options
    const { signingSecretsOf, onWaiting = () => {} } = this.#options
    const process = new SimulatedProcess(name, this.clock)
    const store = faultyStore({ store: this.store, process, clock: this.clock, fateOf, hintDelayMs })
    process.dispatcher = createDispatcher({
      store: this.leaseBook.watch(process, store),
      policies: policiesIn(store),
      largeFrom: { tasks: 1, lanes: 1 },
      onWaiting,
      target: this.destinations.targetOf(process),
      bodies: this.bodies,
      clock: process,
      random: this.random,
      newToken: () => `token-${++this.#tokens}`,
      instance: name,
      slots,
      events: { ...QUIET, ...events },
      ...(lanes !== undefined && { lanes }),
      ...(signingSecretsOf !== undefined && { signingSecretsOf }),
      ...(listAgainMs !== undefined && { listAgainMs }),
    })
    this.processes.push(process)
    process.dispatcher.start()
    return process
  }

  /** Hands a task to the store itself: it is acknowledged when this resolves. */
  enqueue({ policy, ...order }: Order = {}): Promise<Accepted> {
    const document = { ...DEFAULT_POLICY, ...this.#options.policy, ...policy }
    return this.#enqueue(order, { policyId: INLINE_POLICY, version: 1, document, isInline: true })
  }

  /** Under a policy that is, or is not, in the store. */
  enqueueUnder(policyId: string, version: number): Promise<Accepted> {
    const document = { ...DEFAULT_POLICY, ...this.#options.policy }
    return this.#enqueue({}, { policyId, version, document, isInline: false })
  }

  async #enqueue(order: Omit<Order, 'policy'>, policy: PolicyInForce): Promise<Accepted> {
    const { tenant = 'acme', destination = 'https://api.example', storedBody, ...rest } = order
    const lane = laneKey({ tenant, destination })
    const { now } = await this.store.health()
    const bytes = Uint8Array.from({ length: TASK_ID_BYTES }, () => Math.floor(this.random() * 256))
    const taskId = taskIdOf(now, partitionOf(lane), bytes)
    const plain = { targetUrl: `${destination}/charge`, method: 'POST', headers: {}, body: null }
    const request = { ...plain, ...(storedBody && { storedBody }) }
    const whole = { taskId, tenant, destination, request, createdBy: 'local', requestHash: taskId, ...rest }
    await this.store.enqueue([accept(whole, policy, { now, roll: 0 })])
    const accepted = { taskId, lane, policy: policy.document }
    this.accepted.push(accepted)
    return accepted
  }

  /** A large body that orders of the tenant can name. */
  async upload(content: string | Buffer, tenant = 'acme'): Promise<KeptBody> {
    const kept = await this.bodies.put({ tenant, bytes: [Buffer.from(content)], mostBytes: 1e9 })
    await this.keepBody(kept)
    return kept
  }

  /** Tells the store where an upload lies. */
  async keepBody(kept: KeptBody): Promise<void> {
    const neededUntil = neededAfterUpload(this.clock.now())
    await this.store.putBody({ ...kept, contentType: 'text/plain', mostBytes: 1e9, neededUntil })
  }

  /** A version of a policy, as the policy book keeps it. */
  async putPolicy(policyId: string, version: number, document: RetryPolicy): Promise<void> {
    const name = policyVersionRecord({ tenant: 'acme', policyId }, version)
    await this.store.write([{ ...name, tenant: 'acme', document: { ...document } }])
  }

  async enqueueMany(count: number, order: Order = {}): Promise<Accepted[]> {
    const accepted: Accepted[] = []
    for (let n = 0; n < count; n++) accepted.push(await this.enqueue(order))
    return accepted
  }

  /** An operator's record, whatever it was before; null removes it. */
  async order(kind: 'control' | 'destination', id: string, document: object | null): Promise<void> {
    const known = await this.store.record({ kind, id })
    const { tenant = EVERY_TENANT }: Partial<Lane> = kind === 'destination' ? laneOf(id) : (document ?? {})
    const written = { kind, id, tenant, document: document && { ...document }, ifVersion: known?.version ?? 0 }
    await this.store.write([written])
  }

  async read(taskId: string): Promise<Task> {
    const [task] = await this.store.get([taskId])
    assert(task !== undefined, `the store has no task ${taskId}`)
    return task
  }

  async statusOf({ taskId }: Pick<Accepted, 'taskId'>): Promise<string> {
    return (await this.read(taskId)).state.status
  }

  /** How many tasks of all lanes are counted there. */
  async count(of: keyof Omit<LaneCounters, 'lane'>): Promise<number> {
    const { items, nextCursor } = await this.store.lanes({ limit: MOST_LANES })
    assert(nextCursor === undefined, `a world has no more than ${MOST_LANES} lanes`)
    return items.reduce((sum, lane) => sum + lane[of], 0)
  }

  /** As an onlooker sees them, which beats too seldom to be taken for an instance. */
  async stewards(): Promise<readonly Steward[]> {
    return (await this.store.beat({ instance: 'onlooker', largeFrom: { tasks: 1, lanes: 1 } })).stewards
  }

  async isAllOver(): Promise<boolean> {
    return (await this.count('pending')) + (await this.count('inFlight')) === 0
  }

  /** Lets time pass until everything has ended; fails when that takes longer than `mostMs`. */
  async finish(mostMs: number): Promise<void> {
    const endsAt = this.clock.monotonic() + mostMs
    while (!(await this.isAllOver())) {
      if (this.clock.monotonic() >= endsAt) throw new Error(`${await this.#unfinished()} after ${mostMs} ms`)
      await this.clock.advance(1_000)
    }
  }

  async #unfinished(): Promise<string> {
    const tasks = await this.store.get(this.accepted.map(({ taskId }) => taskId))
    const states = tasks.map(({ state, progress, taskId }) => JSON.stringify({ ...state, ...progress, id: taskId }))
    return states.filter(state => /PENDING|IN_FLIGHT/.test(state)).join('\n')
  }
}

/** A policy's version is written once, so that no process remembers it here. */
function policiesIn(store: Store): TaskPolicies {
  return {
    atHand: ({ policy }) => policy,
    find: async task => {
      if (task.policy !== undefined) return task.policy
      const record = await store.record(policyVersionRecord(task, task.policyVersion))
      return record === undefined ? 'missing' : documentOf<RetryPolicy>(record)
    },
  }
}

/** Another lane of the same tenant and partition: one claim serves both. */
export function neighbourOf(lane: Lane): Lane {
  const partition = partitionOf(laneKey(lane))
  // One in 256 is.
  for (let n = 0; ; n++) {
    const neighbour = { ...lane, destination: `https://neighbour-${n}.example` }
    if (neighbour.destination !== lane.destination && partitionOf(laneKey(neighbour)) === partition) return neighbour
  }
}
