import assert from 'node:assert/strict'
import { onTestFinished } from 'vitest'
import { virtualClock, type VirtualClock } from '@secondwind/resilience/testing'
import type { NewTask } from '../../task/accept.ts'
import { partitionOf, queueKey } from '../../task/lane.ts'
import type { Settlement } from '../../task/settle.ts'
import type { ClaimedTask, Task } from '../../task/task.ts'
import type { Ask, Hint, Page, PageAsk, Settled, TaskFilter, TaskStore } from '../task-store.ts'
import { LANE, newTask, PARTITION, QUEUE, TENANT, type TaskChanges } from './tasks.test-kit.ts'

/** How an exam gets at a store: empty, on a clock that the exam moves. */
export type OpenStore = (options: StoreOptions) => Promise<OpenedStore>

export interface StoreOptions {
  readonly clock: VirtualClock
}

export interface OpenedStore {
  readonly store: TaskStore
  /** Ends the process that has the data, in spirit, and opens the same data anew; absent where nothing outlives it. */
  reopen?(options: StoreOptions): Promise<OpenedStore>
  /** Resolves when lists show all that was written; absent where they always do. */
  caughtUp?(): Promise<void>
  /** Whether instances in several processes may share it; else its only instance knows of its own writes. */
  readonly isShared?: boolean
}

/** One store, in one test. */
export interface Setting {
  readonly clock: VirtualClock
  readonly store: TaskStore
  /** Builds the next task of this test. */
  readonly build: (changes?: TaskChanges) => NewTask
  /** Builds it and takes it in. */
  readonly add: (changes?: TaskChanges) => Promise<NewTask>
  readonly addMany: (count: number, changes?: TaskChanges) => Promise<NewTask[]>
  /** Becomes the steward of a partition, whoever was; the next claims carry the new token. */
  readonly take: (partition?: number) => Promise<string>
  /** By the steward, who takes the partition if nobody did. */
  readonly claim: (ask?: Partial<Ask>, token?: string) => Promise<readonly ClaimedTask[]>
  readonly claimOne: (ask?: Partial<Ask>) => Promise<ClaimedTask>
  readonly settle: (settlement: Settlement) => Promise<Settled>
  /** Taken in, claimed together with whatever else is due in its queue, and settled. */
  readonly ended: (settlement: (task: ClaimedTask) => Settlement, changes?: TaskChanges) => Promise<Task>
  readonly get: (task: { readonly taskId: string }) => Promise<Task>
  /** The ids of every listed task, in order. */
  readonly listed: (filter?: Partial<TaskFilter>) => Promise<string[]>
  /** Everything that lists say, once they have caught up. */
  readonly all: <Item>(read: (page: PageAsk) => Promise<Page<Item>>, limit?: number) => Promise<Item[]>
  /** A claim call's token that was never used. */
  readonly newToken: () => string
  readonly isShared: boolean
  readonly isDurable: boolean
  readonly reopen: (clock?: VirtualClock) => Promise<Setting>
}

export const NO_LIMITS = { perLane: Infinity, total: Infinity }

export async function sit(open: OpenStore, clock: VirtualClock = virtualClock()): Promise<Setting> {
  return settingOf(await open({ clock }), clock)
}

function settingOf(opened: OpenedStore, clock: VirtualClock, first = 1): Setting {
  const { store } = opened
  onTestFinished(() => store.close())
  const stewards = new Map<number, string>()
  let number = first
  const next = (): number => number++
  const newToken = (): string => `token-${next()}`
  const build = (changes?: TaskChanges): NewTask => newTask(next(), clock.now(), changes)

  const addMany = async (count: number, changes?: TaskChanges): Promise<NewTask[]> => {
    const tasks = Array.from({ length: count }, () => build(changes))
    const { results } = await store.enqueue(tasks, NO_LIMITS)
    assert.deepEqual(
      results,
      tasks.map(() => ({ kind: 'created' })),
    )
    return tasks
  }

  const take = async (partition = PARTITION): Promise<string> => {
    const { stewards: present } = await store.beat('one')
    const from = present.find(steward => steward.partition === partition)?.token ?? null
    const token = newToken()
    assert.equal((await store.take({ partition, instance: 'one', token, from })).taken, true)
    stewards.set(partition, token)
    return token
  }

  const claim = async (ask: Partial<Ask> = {}, token = newToken()): Promise<readonly ClaimedTask[]> => {
    const partition = partitionOf(ask.lane ?? LANE)
    const steward = stewards.get(partition) ?? (await take(partition))
    const answer = await store.claim({ partition, steward, token, asks: [askOf(ask)] })
    assert.ok(answer.kind === 'claimed')
    return answer.tasks
  }

  const claimOne = async (ask: Partial<Ask> = {}): Promise<ClaimedTask> => {
    const [task] = await claim({ ...ask, count: 1 })
    assert.ok(task !== undefined, 'nothing was due')
    return task
  }

  const settle = async (settlement: Settlement): Promise<Settled> => (await store.settle([settlement])).results[0]!

  const get = async ({ taskId }: { readonly taskId: string }): Promise<Task> => {
    const task = await store.get(taskId)
    assert.ok(task !== undefined, 'the task is unknown')
    return task
  }

  const all = async <Item>(read: (page: PageAsk) => Promise<Page<Item>>, limit = 2): Promise<Item[]> => {
    await opened.caughtUp?.()
    return everything(read, limit)
  }

  return {
    clock,
    store,
    build,
    add: async changes => (await addMany(1, changes))[0]!,
    addMany,
    take,
    claim,
    claimOne,
    settle,
    ended: async (settlement, changes) => {
      const [task] = await addMany(1, changes)
      const lane = `${task!.tenant} ${task!.destination}`
      const claimed = await claim({ lane, queue: queueKey(task!.queue), count: 1_000, limit: 10_000 })
      assert.deepEqual(
        (await settle(settlement(claimed.find(({ taskId }) => taskId === task!.taskId)!))).kind,
        'settled',
      )
      return get(task!)
    },
    get,
    listed: async filter =>
      (await all(page => store.list({ ...page, filter: { tenant: TENANT, ...filter } }))).map(({ taskId }) => taskId),
    all,
    newToken,
    isShared: opened.isShared ?? false,
    isDurable: opened.reopen !== undefined,
    reopen: async (nextClock = clock) => {
      const reopened = await opened.reopen!({ clock: nextClock })
      return settingOf(reopened, nextClock, number)
    },
  }
}

export function askOf(ask: Partial<Ask> = {}): Ask {
  return { lane: LANE, queue: queueKey(QUEUE), count: 100, limit: 1_000, ...ask }
}

/** More pages than any test has tasks: a cursor that leads nowhere must not hang it. */
const MOST_PAGES = 10_000

/** Every page's items, in order. */
export async function everything<Item>(read: (page: PageAsk) => Promise<Page<Item>>, limit = 2): Promise<Item[]> {
  const items: Item[] = []
  let cursor: string | undefined
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const page = await read({ limit, ...(cursor !== undefined && { cursor }) })
    assert.ok(page.items.length <= limit, `a page of ${limit} has ${page.items.length} items`)
    items.push(...page.items)
    cursor = page.nextCursor
    if (cursor === undefined) return items
  }
  throw new Error(`after ${MOST_PAGES} pages there is still a cursor`)
}

export interface HeardHints {
  readonly heard: Hint[]
  /** Hints come when they come. */
  readonly until: (isEnough: (heard: readonly Hint[]) => boolean) => Promise<void>
  readonly leave: () => void
}

/** Hears every hint from now on. */
export function hintsOf(store: TaskStore): HeardHints {
  const heard: Hint[] = []
  let look = (): void => {}
  const leave = store.onHint(hint => {
    heard.push(hint)
    look()
  })
  const until: HeardHints['until'] = isEnough =>
    new Promise(resolve => {
      look = () => {
        if (isEnough(heard)) resolve()
      }
      look()
    })
  return { heard, until, leave }
}
