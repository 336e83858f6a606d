import assert from 'node:assert/strict'
import { onTestFinished } from 'vitest'
import { virtualClock, type VirtualClock } from '@secondwind/resilience/testing'
import type { NewTask } from '../../task/accept.ts'
import { claimedTask } from '../../task/claimed.ts'
import { laneKey, partitionOf, queueKey } from '../../task/lane.ts'
import type { Settlement } from '../../task/settle.ts'
import type { ClaimedTask, Task } from '../../task/task.ts'
import type {
  Ask,
  AskedHead,
  Change,
  Changed,
  LeasesPage,
  ListOrder,
  Page,
  PageAsk,
  PutBack,
  QueueHead,
  Replay,
  Settled,
  Store,
  Sweep,
  TaskFilter,
  WaitingTasks,
} from '../store.ts'
import { FIRSTS, LANE, newTask, PARTITION, TENANT, type TaskChanges } from './tasks.test-kit.ts'

/** How an exam opens a store: empty, on a clock that the exam moves. */
export type OpenStore = (options: StoreOptions) => Promise<OpenedStore>

export interface StoreOptions {
  readonly clock: VirtualClock
}

export interface OpenedStore {
  readonly store: Store
  /** Ends the process that has the data, and opens the same data anew; absent where nothing outlives the process. */
  reopen?(options: StoreOptions): Promise<OpenedStore>
  /** Resolves when lists and counts show every write; absent where they always do. */
  caughtUp?(): Promise<void>
}

/** One store, in one test. */
export interface Setting {
  readonly clock: VirtualClock
  readonly store: Store
  readonly isDurable: boolean
  /** Builds the next task of this test. */
  readonly build: (changes?: TaskChanges) => NewTask
  /** Builds it and takes it in. */
  readonly add: (changes?: TaskChanges) => Promise<NewTask>
  readonly addMany: (count: number, changes?: TaskChanges) => Promise<NewTask[]>
  /** Becomes the steward of a partition; the next claims carry the new token. */
  readonly take: (partition?: number) => Promise<string>
  /** By the steward. A partition without one is taken first. */
  readonly claim: (ask?: Partial<Ask>, token?: string) => Promise<readonly ClaimedTask[]>
  readonly claimOne: (ask?: Partial<Ask>) => Promise<ClaimedTask>
  /** One claim of several queues. */
  readonly claimEach: (asks: readonly Ask[], token?: string) => Promise<ClaimedEach>
  readonly settle: (end: Settlement | PutBack) => Promise<Settled>
  /** Adds a task, claims it together with all others that are due in its queue, and settles it. */
  readonly ended: (end: (task: ClaimedTask) => Settlement, changes?: TaskChanges) => Promise<Task>
  readonly replay: (ask: Replay, change?: Change) => Promise<Changed>
  readonly find: (taskId: string) => Promise<Task | undefined>
  readonly get: (task: { readonly taskId: string }) => Promise<Task>
  /** The heads of a partition's queues, in order of name. */
  readonly heads: (partition?: number) => Promise<QueueHead[]>
  /** The tasks behind listed leases, in the order of the list. */
  readonly leased: (ask?: Partial<Omit<LeasesPage, 'cursor' | 'limit'>>) => Promise<ClaimedTask[]>
  /** The ids of the listed tasks, in order. */
  readonly listed: (filter?: TaskFilter, order?: ListOrder) => Promise<string[]>
  readonly waiting: (largeFrom?: { readonly tasks: number; readonly lanes: number }) => Promise<WaitingTasks>
  /** Every page of a list that may lag. */
  readonly all: <Item>(read: (page: PageAsk) => Promise<Page<Item>>, limit?: number) => Promise<Item[]>
  /** The first page that has items, of a list that has more of them. */
  readonly firstPage: <Item>(
    read: (page: PageAsk) => Promise<Page<Item>>,
    limit?: number,
  ) => Promise<Required<Page<Item>>>
  /** Sweeps until nothing is left to sweep; how much that was. */
  readonly sweep: (ask: Partial<Sweep>) => Promise<number>
  /** The token of a claim or a steward, never used before. */
  readonly newToken: () => string
  readonly reopen: (clock?: VirtualClock) => Promise<Setting>
}

interface ClaimedEach {
  readonly now: number
  readonly tasks: readonly ClaimedTask[]
  readonly heads: readonly AskedHead[]
}

export async function sit(open: OpenStore, clock: VirtualClock = virtualClock()): Promise<Setting> {
  return settingOf(await open({ clock }), clock)
}

function settingOf(opened: OpenedStore, clock: VirtualClock, first = 1): Setting {
  const { store } = opened
  onTestFinished(() => store.close())
  let number = first
  const newToken = (): string => `token-${number++}`
  const build = (changes?: TaskChanges): NewTask => newTask(number++, clock.now(), changes)

  const addMany = async (count: number, changes?: TaskChanges): Promise<NewTask[]> => {
    const tasks = Array.from({ length: count }, () => build(changes))
    const { results } = await store.enqueue(tasks)
    const created = tasks.map(() => ({ kind: 'created' }))
    assert.deepEqual(results, created)
    return tasks
  }

  const add = async (changes?: TaskChanges): Promise<NewTask> => only(await addMany(1, changes))
  const reading = readingOf(opened)
  const claiming = claimingOf(store, newToken)
  const settle = async (end: Settlement | PutBack): Promise<Settled> => only((await store.settle([end])).results)

  return {
    clock,
    store,
    isDurable: opened.reopen !== undefined,
    build,
    add,
    addMany,
    newToken,
    ...claiming,
    ...reading,
    settle,
    ended: async (end, changes) => {
      const { taskId, ...task } = await add(changes)
      const ask = { lane: laneKey(task), queue: queueKey(task.queue), count: 1_000, limit: 10_000 }
      const claimed = (await claiming.claim(ask)).find(each => each.taskId === taskId)
      assert.ok(claimed !== undefined, 'the task was due')
      assert.equal((await settle(end(claimed))).kind, 'settled')
      return reading.get({ taskId })
    },
    replay: async (ask, change) => only((await store.replay([ask], change)).results),
    sweep: ask => sweepAll(store, { finishedBefore: 0, deadBefore: 0, auditBefore: 0, limit: 100, ...ask }),
    reopen: async (nextClock = clock) => {
      assert.ok(opened.reopen !== undefined, 'only a durable store is opened anew')
      return settingOf(await opened.reopen({ clock: nextClock }), nextClock, number)
    },
  }
}

type Claiming = Pick<Setting, 'take' | 'claim' | 'claimOne' | 'claimEach'>

function claimingOf(store: Store, newToken: () => string): Claiming {
  const stewards = new Map<number, string>()

  const take = async (partition = PARTITION): Promise<string> => {
    const { stewards: present } = await store.beat({ instance: 'one', largeFrom: LARGE_FROM })
    const from = present.find(steward => steward.partition === partition)?.token ?? null
    const token = newToken()
    assert.equal((await store.take({ partition, instance: 'one', token, from })).taken, true)
    stewards.set(partition, token)
    return token
  }

  const claimEach = async (asks: readonly Ask[], token = newToken()): Promise<ClaimedEach> => {
    const partition = partitionOf(asks[0]?.lane ?? LANE)
    const steward = stewards.get(partition) ?? (await take(partition))
    const { now, answers } = await store.claim([{ partition, steward, token, asks }])
    const answer = only(answers)
    assert.ok(answer.kind === 'claimed', 'the steward claims')
    return { now, tasks: answer.tasks, heads: answer.heads }
  }

  const claim = async (ask: Partial<Ask> = {}, token?: string): Promise<readonly ClaimedTask[]> =>
    (await claimEach([askOf(ask)], token)).tasks

  return { take, claimEach, claim, claimOne: async ask => only(await claim({ ...ask, count: 1 })) }
}

type Reading = Pick<Setting, 'find' | 'get' | 'heads' | 'leased' | 'listed' | 'waiting' | 'all' | 'firstPage'>

function readingOf(opened: OpenedStore): Reading {
  const { store } = opened
  const all = async <Item>(read: (page: PageAsk) => Promise<Page<Item>>, limit = 2): Promise<Item[]> => {
    await opened.caughtUp?.()
    return everything(read, limit)
  }
  const firstPage: Setting['firstPage'] = async (read, limit = 2) => {
    await opened.caughtUp?.()
    for (let cursor: string | undefined, pages = 0; pages < MOST_PAGES; pages++) {
      const { items, nextCursor } = await read({ limit, ...(cursor !== undefined && { cursor }) })
      assert.ok(nextCursor !== undefined, 'there is more than one page')
      if (items.length > 0) return { items, nextCursor }
      cursor = nextCursor
    }
    throw new Error(`there is nothing on ${MOST_PAGES} pages`)
  }
  const find = async (taskId: string): Promise<Task | undefined> => (await store.get([taskId]))[0]

  return {
    all,
    firstPage,
    find,
    get: async ({ taskId }) => {
      const task = await find(taskId)
      assert.ok(task !== undefined, 'the store knows the task')
      return task
    },
    heads: async (partition = PARTITION) => {
      const heads = await everything(page => store.queues({ ...page, partitions: [partition] }))
      return heads.toSorted(byQueue)
    },
    leased: async (ask = {}) => {
      const leases = await everything(page => store.leases({ partitions: [PARTITION], ...ask, ...page }))
      const tasks = await store.get(leases.map(({ taskId }) => taskId))
      return tasks.map(task => only([claimedTask(task)]))
    },
    listed: async (filter = {}, order = 'newest-first') => {
      const tasks = await all(page => store.list({ ...page, filter: { tenant: TENANT, ...filter }, order }))
      return idsOf(tasks)
    },
    waiting: async (largeFrom = LARGE_FROM) => {
      await opened.caughtUp?.()
      return (await store.beat({ instance: 'a reader', largeFrom })).waiting
    },
  }
}

/** More than any test has. */
export const LARGE_FROM = { tasks: 1_000_000, lanes: 1_000_000 }

export function askOf(ask: Partial<Ask> = {}): Ask {
  return { lane: LANE, queue: FIRSTS, count: 100, limit: 1_000, ...ask }
}

export function idsOf(tasks: readonly { readonly taskId: string }[]): string[] {
  return tasks.map(({ taskId }) => taskId)
}

export function byQueue(one: QueueHead, other: QueueHead): number {
  return compareText(`${one.lane}\n${one.queue}`, `${other.lane}\n${other.queue}`)
}

export function compareText(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}

/** The one item of a list. */
export function only<Item>(items: readonly (Item | undefined)[]): Item {
  const [item] = items
  assert.ok(item !== undefined && items.length === 1, `one item, not ${items.length}`)
  return item
}

/** More pages than any test has: a cursor that leads nowhere must not hang it. */
const MOST_PAGES = 10_000

/** The items of every page, in order. A page may be short or empty and still have a cursor. */
export async function everything<Item>(
  read: (page: PageAsk) => Promise<Page<Item>>,
  limit = 2,
  from?: string,
): Promise<Item[]> {
  const items: Item[] = []
  let cursor = from
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const page = await read({ limit, ...(cursor !== undefined && { cursor }) })
    assert.ok(page.items.length <= limit, `a page of ${limit} has ${page.items.length} items`)
    items.push(...page.items)
    cursor = page.nextCursor
    if (cursor === undefined) return items
  }
  throw new Error(`after ${MOST_PAGES} pages there is still a cursor`)
}

/** Work per call is bounded, so that a sweep may find nothing although there is more: three empty ones are the end. */
export async function sweepAll(store: Pick<Store, 'sweep'>, ask: Sweep): Promise<number> {
  let swept = 0
  for (let calls = 0, empty = 0; calls < 1_000 && empty < 3; calls++) {
    const answer = await store.sweep(ask)
    assert.ok(answer.swept <= ask.limit, `a sweep of ${ask.limit} took ${answer.swept}`)
    swept += answer.swept
    empty = answer.swept === 0 ? empty + 1 : 0
  }
  return swept
}
