import assert from 'node:assert/strict'
import fc from 'fast-check'
import { DEFAULT_POLICY } from '@secondwind/resilience'
import { virtualClock, type VirtualClock } from '@secondwind/resilience/testing'
import type { NewTask } from '../task/accept.ts'
import { laneKey, partitionOf, type Lane } from '../task/lane.ts'
import type { Settlement } from '../task/settle.ts'
import type { AttemptEnd, ClaimedTask, StoredBody, Task } from '../task/task.ts'
import { everything, NO_LIMITS, type OpenedStore, type OpenStore } from './conformance/exam.test-kit.ts'
import {
  checkProgress,
  checkPromises,
  compareText,
  snapshotOf,
  type Snapshot,
} from './conformance/snapshot.test-kit.ts'
import {
  step,
  type AskedVersion,
  type AskStep,
  type EndStep,
  type Item,
  type Step,
} from './conformance/steps.test-kit.ts'
import {
  expireHeld,
  giveUp,
  giveUpUnsent,
  newTask,
  nextGeneration,
  retryAt,
  succeed,
} from './conformance/tasks.test-kit.ts'
import type { Ask, Operating, QueueHead, TaskStore } from './task-store.ts'

export interface HistoryOptions {
  /** How many; 200, or what the environment says in `HISTORIES`. */
  readonly runs?: number
  /** Steps in the longest of them. */
  readonly mostSteps?: number
  /** Replays a run that failed; else what the environment says in `HISTORIES_SEED`, else a new one each time. */
  readonly seed?: number
  /** Leaves a history that fails as long as it was found; else it is shortened, which takes its time. */
  readonly isFirstFound?: boolean
}

/**
 * Makes random histories in two stores at once, with clocks that leap: every answer of one must be the other's, and so
 * must all that can be read, now and then. What holds of every store is checked as well. A failure names the seed that
 * replays it, and the shortest history that still fails.
 */
export async function compareStores(
  openOne: OpenStore,
  openOther: OpenStore,
  options: HistoryOptions = {},
): Promise<void> {
  const { runs = fromEnvironment('HISTORIES') ?? 200, mostSteps = 120 } = options
  const seed = options.seed ?? fromEnvironment('HISTORIES_SEED')
  const history = fc.array(step, { minLength: 1, maxLength: mostSteps, size: 'max' })
  await fc.assert(
    fc.asyncProperty(history, steps => makeHistory(steps, [openOne, openOther])),
    { numRuns: runs, endOnFailure: options.isFirstFound ?? false, ...(seed !== undefined && { seed }) },
  )
}

function fromEnvironment(name: string): number | undefined {
  const text = process.env[name]
  return text === undefined || text === '' ? undefined : Number(text)
}

/** Often enough to find a fault near its cause, seldom enough to have time for many histories. */
const STEPS_BETWEEN_LOOKS = 12

async function makeHistory(steps: readonly Step[], opens: readonly [OpenStore, OpenStore]): Promise<void> {
  const history = new History([await Side.open(opens[0]), await Side.open(opens[1])])
  try {
    await history.begin()
    for (const [index, each] of steps.entries()) {
      await history.make(each)
      if (index % STEPS_BETWEEN_LOOKS === STEPS_BETWEEN_LOOKS - 1) await history.look()
    }
    await history.look()
  } finally {
    await history.end()
  }
}

/** Two lanes of one partition, for limits and fences, and one elsewhere. */
const LANES: readonly Lane[] = lanesOfTwoPartitions()
const PARTITIONS: readonly [number, number] = [partitionOf(laneKey(LANES[0]!)), partitionOf(laneKey(LANES[2]!))]
const SCOPE = {
  tenants: ['acme', 'other'],
  partitions: PARTITIONS,
  policyIds: ['a', 'b'],
  replayIds: ['r0', 'r1'],
  bodyRefs: ['1', '2', '3'],
}

function lanesOfTwoPartitions(): Lane[] {
  const first = { tenant: 'acme', destination: 'https://0.example' }
  const partition = partitionOf(laneKey(first))
  const others = Array.from({ length: 5_000 }, (_, n) => ({ tenant: 'other', destination: `https://${n + 1}.example` }))
  const neighbour = others.find(lane => partitionOf(laneKey(lane)) === partition)!
  const stranger = others.find(lane => partitionOf(laneKey(lane)) !== partition)!
  return [first, neighbour, stranger]
}

/** One of the two stores, on a clock of its own. */
class Side {
  readonly opened: OpenedStore
  readonly clock: VirtualClock
  lastLook: Snapshot | undefined

  static async open(open: OpenStore): Promise<Side> {
    const clock = virtualClock()
    return new Side(await open({ clock }), clock)
  }

  private constructor(opened: OpenedStore, clock: VirtualClock) {
    this.opened = opened
    this.clock = clock
  }
}

class History {
  readonly #sides: readonly [Side, Side]
  readonly #tasks: NewTask[] = []
  readonly #claims: ClaimedTask[] = []
  readonly #stewards = new Map<number, string | null>()
  /** The present names of its two replays, and all that they had. */
  readonly #replayIds = [...SCOPE.replayIds]
  readonly #knownReplayIds = [...SCOPE.replayIds]
  #number = 0

  constructor(sides: readonly [Side, Side]) {
    this.#sides = sides
  }

  async begin(): Promise<void> {
    for (const partition of [0, 1]) await this.#take(partition, false)
  }

  async end(): Promise<void> {
    for (const { opened } of this.#sides) await opened.store.close()
  }

  /** Compares all that can be read, and checks what holds of every store. */
  async look(): Promise<void> {
    const looks: Snapshot[] = []
    for (const side of this.#sides) {
      await side.opened.caughtUp?.()
      const look = await snapshotOf(side.opened.store, { ...SCOPE, replayIds: this.#knownReplayIds })
      checkPromises(look)
      if (side.lastLook !== undefined) checkProgress(side.lastLook, look)
      side.lastLook = look
      looks.push(look)
    }
    assert.deepEqual(looks[1], looks[0])
  }

  async make(made: Step): Promise<void> {
    switch (made.kind) {
      case 'advance':
        for (const { clock } of this.#sides) await clock.advance(made.ms)
        return
      case 'jump-wall':
        for (const { clock } of this.#sides) clock.jumpWall(made.ms)
        return
      case 'enqueue':
        return this.#enqueue(made)
      case 'take':
        return this.#take(made.partition, made.isStale)
      case 'give':
        return this.#give(made.partition, made.isStale)
      case 'claim':
        return this.#claim(made)
      case 'settle':
        return this.#settle(made.ends.map(end => [newest(this.#claims, end.claim), end]))
      case 'release':
        return this.#release(made.claims.map(claim => newest(this.#claims, claim)))
      case 'settle-ended':
        return this.#settleEnded(PARTITIONS[made.partition]!, made.result)
      case 'leases-of':
        return this.#leasesOf(newest(this.#claims, made.claim))
      case 'expire':
        return this.#expire(made)
      case 'recall':
        return this.#recall(made)
      case 'remember':
        return this.#remember(made)
      case 'cancel':
        return this.#onTask(made, (store, taskId, ask) => store.cancel(taskId, ask))
      case 'attempt-now':
        return this.#onTask(made, (store, taskId, ask) => store.attemptNow(taskId, ask))
      case 'replay':
        return this.#replay(made)
      case 'replay-many':
        return this.#replayMany(made)
      case 'forget-replay':
        return this.#forgetReplay(made)
      case 'put-policy': {
        const document = { ...DEFAULT_POLICY, maxAttempts: made.value + 1 }
        const name = { tenant: SCOPE.tenants[made.policy]!, policyId: SCOPE.policyIds[made.policy]! }
        const present = await this.#both(store => store.policy(name))
        await this.#both(store => store.putPolicy({ ...name, document, ...asking(made.version, present) }))
        return
      }
      case 'put-body': {
        const { tenant } = LANES[0]!
        const upload = { contentType: 'text/plain', location: this.#newToken() }
        await this.#both(store => store.putBody({ tenant, ...bodyOf(made.body), ...upload, mostBytes: made.mostBytes }))
        return
      }
      case 'sweep-bodies': {
        const unusedBefore = (await this.#now()) - made.unusedMs
        await this.#both(async store => {
          const { locations, ...answer } = await store.sweepBodies({ unusedBefore, limit: 100 })
          return { ...answer, locations: locations.toSorted() }
        })
        return
      }
      case 'sweep-lanes':
        await this.#both(async store => {
          const swept = await everything(async page => {
            const { lanes: items, nextCursor } = await store.sweepLanes(page)
            return { items, ...(nextCursor !== undefined && { nextCursor }) }
          }, 2)
          return swept.toSorted()
        })
        return
      case 'sweep':
        return this.#sweep(made)
    }
  }

  /** The same call to both; their answers must be equal. */
  async #both<Result>(call: (store: TaskStore) => Promise<Result>): Promise<Result> {
    const [one, other] = this.#sides
    const answer = await call(one.opened.store)
    assert.deepEqual(await call(other.opened.store), answer)
    return answer
  }

  async #now(): Promise<number> {
    return (await this.#both(store => store.health())).now
  }

  async #enqueue({ items, perLane, total, lanes }: Extract<Step, { kind: 'enqueue' }>): Promise<void> {
    const now = await this.#now()
    const tasks = items.map(item => this.#taskOf(item, now))
    const { results } = await this.#both(store => store.enqueue(tasks, { perLane, total, lanes }))
    this.#tasks.push(...tasks.filter((_, index) => results[index]!.kind === 'created'))
  }

  #taskOf({ lane, queue, attemptsMade, leaseMs, key, which, body, ...item }: Item, now: number): NewTask {
    const before = newest(this.#tasks, which)
    if (key === 'as before' && before !== undefined) return before
    const idempotencyKey = key === 'one of four' ? `key ${which % 4}` : before?.taskId
    const request = { targetUrl: `${LANES[lane]!.destination}/charge`, method: 'POST', headers: {}, body: null }
    return newTask(++this.#number, now, {
      ...LANES[lane]!,
      ...(body !== 'none' && { request: { ...request, storedBody: bodyOf(which) } }),
      ...(body === 'uploaded' && { upload: { contentType: 'text/html', location: this.#newToken() } }),
      queue,
      policyId: queue.policyId,
      leaseMs,
      dueAt: now + item.dueInMs,
      progress: { attemptNumber: attemptsMade, expiresAt: now + item.expiresInMs },
      ...(key !== 'none' && idempotencyKey !== undefined && { idempotencyKey, keyGiven: true }),
      requestHash: item.isOtherRequest ? 'another request' : 'a request',
    })
  }

  async #take(at: number, isStale: boolean): Promise<void> {
    const partition = PARTITIONS[at]!
    const token = this.#newToken()
    const from = isStale ? 'stale' : (this.#stewards.get(partition) ?? null)
    const { taken } = await this.#both(store => store.take({ partition, instance: 'one', token, from }))
    assert.equal(taken, !isStale)
    if (taken) this.#stewards.set(partition, token)
  }

  async #give(at: number, isStale: boolean): Promise<void> {
    const partition = PARTITIONS[at]!
    const { given } = await this.#both(store => store.give({ partition, steward: this.#steward(partition, isStale) }))
    if (given) this.#stewards.set(partition, null)
  }

  async #claim({ partition: at, isStale, asks }: Extract<Step, { kind: 'claim' }>): Promise<void> {
    const partition = PARTITIONS[at]!
    const steward = this.#steward(partition, isStale)
    const heads = await this.#heads(partition)
    const asked = asks.map(ask => askFor(heads, ask))
    const call = { partition, steward, token: this.#newToken(), asks: asked }
    const answer = await this.#both(store => store.claim(call))
    assert.equal(answer.kind === 'claimed', steward === this.#stewards.get(partition))
    if (answer.kind !== 'claimed') return
    assert.ok(answer.tasks.every(({ dueAt }) => dueAt <= answer.now))
    this.#claims.push(...answer.tasks)
  }

  async #heads(partition: number): Promise<QueueHead[]> {
    return this.#both(async store => {
      const heads = await everything(page => store.queues({ ...page, partition }))
      return heads.toSorted((one, other) => compareText(`${one.lane}\n${one.queue}`, `${other.lane}\n${other.queue}`))
    })
  }

  async #settle(ends: readonly (readonly [ClaimedTask | undefined, EndStep])[]): Promise<void> {
    const now = await this.#now()
    const settlements = ends.flatMap(([task, end]) => (task === undefined ? [] : [settlementOf(task, end, now)]))
    await this.#both(store => store.settle(settlements))
  }

  async #release(tasks: readonly (ClaimedTask | undefined)[]): Promise<void> {
    const held = tasks.flatMap(task => (task === undefined ? [] : [{ taskId: task.taskId, token: task.lease.token }]))
    await this.#both(store => store.release(held))
  }

  async #settleEnded(partition: number, result: EndStep['result']): Promise<void> {
    const { tasks } = await this.#both(async store => {
      const ended = await store.endedLeases({ partition, limit: 1_000 })
      return { ...ended, tasks: ended.tasks.toSorted((one, other) => compareText(one.taskId, other.taskId)) }
    })
    await this.#settle(tasks.map(task => [task, { claim: 0, result, error: 0, delayMs: 1_000 }]))
  }

  async #leasesOf(claim: ClaimedTask | undefined): Promise<void> {
    const token = claim?.lease.token ?? 'never made'
    for (const partition of PARTITIONS)
      await this.#both(async store => (await store.leasesOf({ partition, token })).taskIds.toSorted())
  }

  async #expire({ partition: at, queue, limit, heldBy }: Extract<Step, { kind: 'expire' }>): Promise<void> {
    const partition = PARTITIONS[at]!
    const { lane, queue: name } = askFor(await this.#heads(partition), { queue, count: 0, limit: 0, end: 'front' })
    const shut = heldBy === 'none' ? [] : [{ by: heldBy, since: 0, until: await this.#now() }]
    const ask = { partition, steward: this.#steward(partition, false), lane, queue: name, shut }
    await this.#both(store =>
      everything(async page => {
        const { expired, nextCursor } = await store.expire({ ...ask, ...page })
        return { items: expired, ...(nextCursor !== undefined && { nextCursor }) }
      }, limit),
    )
  }

  async #recall({ partition: at, isStale, tasks: asked }: Extract<Step, { kind: 'recall' }>): Promise<void> {
    const partition = PARTITIONS[at]!
    const now = await this.#now()
    const tasks = asked.map(({ task, dueInMs }) => {
      const { taskId } = newest(this.#tasks, task) ?? { taskId: 'unheard-of' }
      return { taskId, dueAt: now + dueInMs }
    })
    await this.#both(store => store.recall({ partition, steward: this.#steward(partition, isStale), tasks }))
  }

  async #remember({ partition: at, isStale, value }: Extract<Step, { kind: 'remember' }>): Promise<void> {
    const partition = PARTITIONS[at]!
    const lane = laneKey(LANES[at === 0 ? value % 2 : 2]!)
    const ask = { partition, steward: this.#steward(partition, isStale), lane, memory: { value } }
    await this.#both(store => store.remember(ask))
  }

  async #onTask(
    { task: at, version }: { readonly task: number; readonly version: AskedVersion },
    call: (store: TaskStore, taskId: string, ask: Operating) => Promise<unknown>,
  ): Promise<void> {
    const taskId = newest(this.#tasks, at)?.taskId ?? 'unheard-of'
    const task = await this.#both(store => store.get(taskId))
    await this.#both(store => call(store, taskId, asking(version, task)))
  }

  async #replay({ task: at, isStale, version }: Extract<Step, { kind: 'replay' }>): Promise<void> {
    const now = await this.#now()
    const dead = await this.#dead()
    const { taskId } = newest(dead, at) ?? newest(this.#tasks, at) ?? { taskId: 'unheard-of' }
    const task = await this.#both(store => store.get(taskId))
    const generation = (task?.progress.generation ?? 1) - Number(isStale)
    const progress = task === undefined ? newTask(1, now).progress : nextGeneration(task, now)
    await this.#both(store => store.replay({ taskId, generation, progress, ...asking(version, task) }))
  }

  /** No name is given twice: what is still under way of the one that is forgotten would be counted as the other's. */
  async #forgetReplay({ replay }: Extract<Step, { kind: 'forget-replay' }>): Promise<void> {
    const replayId = this.#replayIds[replay]!
    await this.#both(store => store.forgetReplay(replayId))
    this.#replayIds[replay] = `${replayId}+`
    this.#knownReplayIds.push(`${replayId}+`)
  }

  async #replayMany({ tasks, replay, dueInMs, lanes }: Extract<Step, { kind: 'replay-many' }>): Promise<void> {
    const now = await this.#now()
    const dead = await this.#dead()
    const replayId = this.#replayIds[replay]!
    const asks = tasks.flatMap(at => {
      const task = newest(dead, at)
      if (task === undefined) return []
      const { taskId, progress } = task
      const next = { ...nextGeneration(task, now), replayId }
      return [{ taskId, generation: progress.generation, progress: next, dueAt: now + dueInMs }]
    })
    await this.#both(store => store.replayMany(asks, { ...NO_LIMITS, lanes }))
  }

  /** Dead letters are few among all tasks, and only they can be replayed. */
  async #dead(): Promise<readonly Task[]> {
    for (const { opened } of this.#sides) await opened.caughtUp?.()
    const filter = { tenant: LANES[0]!.tenant, status: 'EXHAUSTED' } as const
    return this.#both(store => everything(page => store.list({ ...page, filter })))
  }

  /** Work per call is bounded, so that one store may need more calls than the other: three empty ones are the end. */
  async #sweep({ finishedMs, deadMs, keysMs }: Extract<Step, { kind: 'sweep' }>): Promise<void> {
    const now = await this.#now()
    const ask = { finishedBefore: now - finishedMs, deadBefore: now - deadMs, keysBefore: now - keysMs, limit: 1_000 }
    await this.#both(async store => {
      let swept = 0
      for (let calls = 0, empty = 0; calls < 100 && empty < 3; calls++) {
        const answer = await store.sweep(ask)
        swept += answer.swept
        empty = answer.swept === 0 ? empty + 1 : 0
      }
      return swept
    })
    // What was forgotten may come again, and begins anew.
    for (const side of this.#sides) side.lastLook = undefined
  }

  #steward(partition: number, isStale: boolean): string {
    return isStale ? 'stale' : (this.#stewards.get(partition) ?? 'nobody')
  }

  #newToken(): string {
    return `token-${++this.#number}`
  }
}

/** The newest is 0: whatever a history is cut down to, it points at something near. */
function newest<Item>(items: readonly Item[], at: number): Item | undefined {
  return items[items.length - 1 - (at % Math.max(1, items.length))]
}

/** One of three. */
function bodyOf(which: number): StoredBody {
  return { bodyRef: SCOPE.bodyRefs[which % SCOPE.bodyRefs.length]!, sizeBytes: 10 }
}

function asking(
  version: AskedVersion,
  read: { readonly version: number } | undefined,
): { readonly ifVersion?: number } {
  const present = read?.version ?? 0
  return version === 'any' ? {} : { ifVersion: version === 'read' ? present : present - 1 }
}

function askFor(heads: readonly QueueHead[], { queue, count, limit, end }: AskStep): Ask {
  const head = heads[queue % Math.max(1, heads.length)]
  return {
    lane: head?.lane ?? laneKey(LANES[0]!),
    queue: head?.queue ?? 'normal first none',
    count,
    limit,
    ...(end === 'back' && { end }),
  }
}

const ERRORS: readonly AttemptEnd[] = [
  { outcome: 'transient', responseStatus: 503, errorCode: 'http-503', errorMessage: 'busy' },
  { outcome: 'ambiguous', errorCode: 'lost' },
  { outcome: 'permanent', responseStatus: 410 },
]

const GATES = ['credit', 'paused'] as const

function settlementOf(task: ClaimedTask, { result, error, delayMs }: EndStep, now: number): Settlement {
  switch (result) {
    case 'success':
      return succeed(task)
    case 'retry':
      return retryAt(task, now + delayMs, ERRORS[error])
    case 'dead':
      return giveUp(task, error === 2 ? 'permanent' : 'attempts', ERRORS[error])
    case 'unsent':
      return error === 0 ? giveUpUnsent(task) : expireHeld(task, { by: GATES[error - 1]!, since: task.dueAt })
  }
}
