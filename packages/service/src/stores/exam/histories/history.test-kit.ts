import assert from 'node:assert/strict'
import type { NewTask } from '../../../task/accept.ts'
import { claimedTask } from '../../../task/claimed.ts'
import type { ClaimedTask, Task } from '../../../task/task.ts'
import type { Change, Changed, Claim, QueueHead, Replay, Store } from '../../store.ts'
import { byQueue, everything, idsOf, only, sweepAll } from '../exam.test-kit.ts'
import { newTask, replayOf } from '../tasks.test-kit.ts'
import { FleetSteps } from './fleet-steps.test-kit.ts'
import type { Pair } from './pair.test-kit.ts'
import {
  askFor,
  asking,
  BODIES,
  CALLBACK_URLS,
  endOf,
  filterOf,
  LANES,
  LINE,
  newest,
  partitionAt,
  PARTITIONS,
} from './places.test-kit.ts'
import { RecordSteps } from './record-steps.test-kit.ts'
import { leasesIn } from './snapshot.test-kit.ts'
import type { EndStep, ExpireStep, Item, OperateStep, RecallStep, ReplayStep, Step, StepOf } from './steps.test-kit.ts'

/** Makes each step in both stores, and compares their answers. */
export class History {
  readonly #pair: Pair
  readonly #fleet: FleetSteps
  readonly #records: RecordSteps
  readonly #tasks: NewTask[] = []
  readonly #claims: ClaimedTask[] = []
  #number = 0

  constructor(pair: Pair) {
    this.#pair = pair
    this.#fleet = new FleetSteps(pair)
    this.#records = new RecordSteps(pair)
  }

  async begin(): Promise<void> {
    for (const partition of [0, 1]) await this.#fleet.take({ kind: 'take', partition, isStale: false })
  }

  look(): Promise<void> {
    return this.#pair.look({
      partitions: PARTITIONS,
      replayIds: this.#records.everyReplayId,
      bodies: BODIES,
    })
  }

  async make(step: Step): Promise<void> {
    switch (step.kind) {
      case 'advance':
        return this.#pair.advance(step.ms)
      case 'jump-wall':
        return this.#pair.jumpWall(step.ms)
      case 'enqueue':
        return this.#enqueue(step.items)
      case 'beat':
        return this.#fleet.beat(step)
      case 'take':
        return this.#fleet.take(step)
      case 'give':
        return this.#fleet.give(step)
      case 'claim':
        return this.#claim(step)
      case 'settle':
        return this.#settle(step.ends.map(end => [newest(this.#claims, end.claim), end]))
      case 'settle-ended':
        return this.#settleEnded(step.result)
      case 'leases-of': {
        const token = newest(this.#claims, step.claim)?.lease.token ?? 'never made'
        await this.#pair.ask(store => leasesIn(store, PARTITIONS, token))
        return
      }
      case 'expire':
        return this.#expire(step)
      case 'recall':
        return this.#recall(step)
      case 'remember':
        return this.#fleet.remember(step)
      case 'cancel':
        return this.#operate(step, (store, taskId, change) => store.cancel(taskId, change))
      case 'attempt-now':
        return this.#operate(step, (store, taskId, change) => store.attemptNow(taskId, change))
      case 'replay':
        return this.#replay(step)
      case 'tell':
        return this.#tell(step)
      case 'write':
        return this.#records.write(step)
      case 'put-body':
        return this.#records.putBody(step)
      case 'need-bodies':
        return this.#records.needBodies(step)
      case 'sweep-bodies':
        return this.#records.sweepBodies(step)
      case 'list':
        return this.#list(step)
      case 'sweep':
        return this.#sweep(step)
    }
  }

  async #enqueue(items: readonly Item[]): Promise<void> {
    const now = await this.#pair.now()
    const kept = new Set(idsOf(await this.#pair.ask(store => store.get(idsOf(this.#tasks)))))
    const tasks = items.map(item => this.#taskOf(item, now, kept))
    const { results } = await this.#pair.ask(store => store.enqueue(tasks))
    this.#tasks.push(...tasks.filter((_, at) => results[at]?.kind === 'created'))
  }

  /** The same task comes again while it is kept: its batch got no answer. */
  #taskOf(
    { lane, queue, attemptsMade, leaseMs, key, which, callback, ...item }: Item,
    now: number,
    kept: ReadonlySet<string>,
  ): NewTask {
    const before = newest(this.#tasks, which)
    if (key === 'as before' && before !== undefined && kept.has(before.taskId)) return before
    const idempotencyKey = key === 'id of a task' ? before?.taskId : `key ${which % 4}`
    const callbackUrl = CALLBACK_URLS[callback - 1]
    return newTask(++this.#number, now, {
      ...LANES[lane],
      queue,
      policyId: queue.policyId,
      leaseMs,
      dueAt: now + item.dueInMs,
      progress: { attemptNumber: attemptsMade, expiresAt: now + item.expiresInMs },
      ...(key !== 'none' && idempotencyKey !== undefined && { idempotencyKey, keyGiven: true }),
      ...(callbackUrl !== undefined && { callbackUrl }),
      requestHash: item.isOtherRequest ? 'another request' : 'a request',
    })
  }

  async #claim(step: StepOf<'claim'>): Promise<void> {
    const claims: Claim[] = []
    for (const { partition: at, isStale, asks } of step.claims) {
      const partition = partitionAt(at)
      const heads = await this.#heads(partition)
      const steward = this.#fleet.steward(partition, isStale)
      claims.push({ partition, steward, token: this.#newToken(), asks: asks.map(ask => askFor(heads, ask)) })
    }
    const { now, answers } = await this.#pair.ask(store => store.claim(claims))
    for (const [at, answer] of answers.entries()) {
      const { partition, steward } = only([claims[at]])
      assert.equal(answer.kind === 'claimed', this.#fleet.isSteward(partition, steward))
      if (answer.kind !== 'claimed') continue
      assert.ok(answer.tasks.every(({ dueAt }) => dueAt <= now))
      this.#claims.push(...answer.tasks)
    }
  }

  async #heads(partition: number): Promise<QueueHead[]> {
    return this.#pair.ask(async store => {
      const heads = await everything(page => store.queues({ ...page, partitions: [partition] }))
      return heads.toSorted(byQueue)
    })
  }

  async #settle(ends: readonly (readonly [ClaimedTask | undefined, EndStep])[]): Promise<void> {
    const now = await this.#pair.now()
    const settlements = ends.flatMap(([task, end]) => (task === undefined ? [] : [endOf(task, end, now)]))
    await this.#pair.ask(store => store.settle(settlements))
  }

  async #settleEnded(result: EndStep['result']): Promise<void> {
    const tasks = await this.#pair.ask(async store => {
      const ended = await everything(page => store.leases({ ...page, partitions: PARTITIONS, haveEnded: true }))
      return store.get(idsOf(ended).toSorted())
    })
    const claimed = tasks.map(task => only([claimedTask(task)]))
    await this.#settle(claimed.map(task => [task, { claim: 0, result, error: 0, delayMs: 1_000 }]))
  }

  async #expire({ partition: at, queue, limit, heldBy }: ExpireStep): Promise<void> {
    const partition = partitionAt(at)
    const { lane, queue: name } = askFor(await this.#heads(partition), {
      queue,
      count: 0,
      limit: 0,
      end: 'front',
    })
    const shut = heldBy === 'none' ? [] : [{ by: heldBy, since: 0, until: await this.#pair.now() }]
    const ask = { partition, steward: this.#fleet.steward(partition, false), lane, queue: name, shut }
    await this.#pair.ask(store =>
      everything(async page => {
        const { expired: items, nextCursor } = await store.expire({ ...ask, ...page })
        return { items, ...(nextCursor !== undefined && { nextCursor }) }
      }, limit),
    )
  }

  async #recall({ partition: at, isStale, tasks: asked }: RecallStep): Promise<void> {
    const partition = partitionAt(at)
    const now = await this.#pair.now()
    const tasks = asked.map(({ task, dueInMs }) => ({
      taskId: newest(this.#tasks, task)?.taskId ?? 'unheard-of',
      dueAt: now + dueInMs,
    }))
    await this.#pair.ask(store => store.recall({ partition, steward: this.#fleet.steward(partition, isStale), tasks }))
  }

  async #operate(
    { task: at, version, isNoted }: OperateStep,
    call: (store: Store, taskId: string, change: Change) => Promise<Changed>,
  ): Promise<void> {
    const taskId = newest(this.#tasks, at)?.taskId ?? 'unheard-of'
    const [task] = await this.#pair.ask(store => store.get([taskId]))
    const change = { ...asking(version, task), ...(isNoted && { audit: { ...LINE, subject: taskId } }) }
    await this.#pair.ask(store => call(store, taskId, change))
  }

  async #replay({ tasks, replay, dueInMs, isStale, version, isNoted }: ReplayStep): Promise<void> {
    const now = await this.#pair.now()
    const dead = await this.#dead()
    const replayId = this.#records.replayId(replay)
    const asks = tasks.map((at): Replay => {
      const task = newest(dead, at) ?? newest(this.#tasks, at) ?? newTask(0, now)
      const { progress, generation, taskId } = replayOf(task, now)
      const next = { ...progress, ...(replayId !== undefined && { replayId }) }
      return { taskId, generation: generation - Number(isStale), progress: next, dueAt: now + dueInMs }
    })
    const [task] = await this.#pair.ask(store => store.get(idsOf(asks.slice(0, 1))))
    const change = { ...asking(version, task), ...(isNoted && { audit: LINE }) }
    await this.#pair.ask(store => (asks.length === 1 ? store.replay(asks, change) : store.replay(asks)))
  }

  /** Dead letters are few among all tasks, and only they can be replayed. */
  async #dead(): Promise<readonly Task[]> {
    const ask = { filter: { status: 'EXHAUSTED' }, order: 'oldest-death-first' } as const
    const listed = await this.#pair.askLists(store => everything(page => store.list({ ...ask, ...page })))
    return this.#pair.ask(store => store.get(idsOf(listed)))
  }

  async #tell({ partitions: asked, perLane, told }: StepOf<'tell'>): Promise<void> {
    const partitions = asked.map(partitionAt)
    const { items: ends } = await this.#pair.ask(store => store.endsToTell({ partitions, perLane, limit: 5 }))
    await this.#pair.ask(store => store.endsTold(ends.slice(0, told)))
  }

  async #list(step: StepOf<'list'>): Promise<void> {
    const causes = await this.#pair.askLists(async store =>
      (await everything(page => store.causes(page))).map(({ causeId }) => causeId),
    )
    const known = { now: await this.#pair.now(), taskIds: idsOf(this.#tasks), causeIds: causes }
    const ask = { filter: filterOf(step, known), order: step.order }
    await this.#pair.ask(store => everything(page => store.list({ ...ask, ...page }), step.limit))
  }

  async #sweep({ finishedMs, deadMs, auditMs }: StepOf<'sweep'>): Promise<void> {
    const now = await this.#pair.now()
    const ask = { finishedBefore: now - finishedMs, deadBefore: now - deadMs, auditBefore: now - auditMs, limit: 1_000 }
    await this.#pair.ask(store => sweepAll(store, ask))
    this.#pair.forgetLook()
  }

  #newToken(): string {
    return `token-${++this.#number}`
  }
}
