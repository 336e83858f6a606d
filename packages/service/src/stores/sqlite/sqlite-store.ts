import { cursorOf, type Cursor } from '../cursor.ts'
import { assertFew } from '../recall.ts'
import type { Page, PageAsk, TaskStore } from '../task-store.ts'
import type { From, Slice } from './rows/slice.ts'
import { claimedOf, newRow, settlementRow } from './rows/task-rows.ts'
import { openStoreThreads, type SqliteStoreOptions } from './threads/store-threads.ts'

export type { SqliteStoreOptions } from './threads/store-threads.ts'

const CURSORS = {
  queues: cursorOf('queues', 'number'),
  leases: cursorOf('leases', 'number', 'number'),
  expire: cursorOf('expire', 'number', 'number'),
  attempts: cursorOf('attempts', 'number'),
  list: cursorOf('tasks', 'number'),
  causes: cursorOf('causes', 'number', 'string'),
  deadLetters: cursorOf('dead letters', 'number'),
  replays: cursorOf('replays', 'string'),
  laneCounters: cursorOf('lanes', 'string'),
  emptyLanes: cursorOf('empty lanes', 'number'),
  memories: cursorOf('memories', 'string'),
  records: cursorOf('records', 'string'),
  auditTrail: cursorOf('audit', 'number'),
  callbacks: cursorOf('callbacks', 'string'),
  policies: cursorOf('policies', 'string'),
  policyVersions: cursorOf('policy versions', 'number'),
} as const

/** The embedded store: everything in one directory, nothing else to install. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<TaskStore> {
  const threads = await openStoreThreads(options)
  return {
    kind: 'sqlite',
    durability: 'power-loss',

    async enqueue(tasks, limits) {
      const { now, answer } = await threads.write('enqueue', { tasks: tasks.map(newRow), limits })
      return { now, results: answer }
    },

    async beat(instance) {
      const { now, answer } = await threads.write('beat', instance)
      return { now, ...answer }
    },
    async take(ask) {
      const { now, answer } = await threads.write('take', ask)
      return { now, taken: answer }
    },
    async give(ask) {
      const { now, answer } = await threads.write('give', ask)
      return { now, given: answer }
    },

    async queues(ask) {
      const { now, answer } = await threads.write('queues', from(ask, CURSORS.queues))
      return { now, ...pageOf(answer, CURSORS.queues) }
    },
    async leases(ask) {
      const { now, answer } = await threads.write('leases', from(ask, CURSORS.leases))
      return { now, ...pageOf(answer, CURSORS.leases) }
    },
    async claim(ask) {
      const { now, answer } = await threads.write('claim', ask)
      if (answer.kind === 'refused') return { now, kind: 'refused' }
      return { now, kind: 'claimed', tasks: answer.held.flatMap(claimedOf), heads: answer.heads }
    },
    async endedLeases(ask) {
      const { now, answer } = await threads.write('endedLeases', ask)
      return { now, tasks: answer.flatMap(claimedOf) }
    },
    async leasesOf(ask) {
      const { now, answer } = await threads.write('leasesOf', ask)
      return { now, taskIds: answer }
    },
    async expire(ask) {
      const { now, answer } = await threads.write('expire', from(ask, CURSORS.expire))
      const { expired, next } = answer
      return { now, expired, ...(next !== null && { nextCursor: CURSORS.expire.write(next) }) }
    },
    async recall(ask) {
      assertFew(ask)
      const { now, answer } = await threads.write('recall', ask)
      return { now, recalled: answer }
    },
    async remember(ask) {
      const { now, answer } = await threads.write('remember', ask)
      return { now, remembered: answer }
    },
    memories: async ask => ({
      now: threads.now(),
      ...pageOf(await threads.read('memories', from(ask, CURSORS.memories)), CURSORS.memories),
    }),

    async settle(settlements) {
      const { now, answer } = await threads.write('settle', settlements.map(settlementRow))
      return {
        now,
        results: answer.map(word => (word === 'lost' ? { kind: 'lost' } : { kind: 'settled', status: word })),
      }
    },
    async release(leases) {
      const { now, answer } = await threads.write('release', leases)
      return { now, results: answer }
    },

    async cancel(taskId, ask) {
      const { now, answer } = await threads.write('cancel', { ...ask, taskId })
      return { now, ...answer }
    },
    async attemptNow(taskId, ask) {
      const { now, answer } = await threads.write('attemptNow', { ...ask, taskId })
      return { now, ...answer }
    },
    async replay(ask) {
      const { now, answer } = await threads.write('replay', ask)
      return { now, ...answer }
    },
    async replayMany(asks, limits) {
      const { now, answer } = await threads.write('replayMany', { asks, ...(limits && { limits }) })
      return { now, results: answer }
    },

    get: async taskId => (await threads.write('get', taskId)).answer,
    attempts: async ask => pageOf(await threads.read('attempts', from(ask, CURSORS.attempts)), CURSORS.attempts),
    list: async ask => pageOf(await threads.read('list', from(ask, CURSORS.list)), CURSORS.list),
    causes: async ask => pageOf(await threads.read('causes', from(ask, CURSORS.causes)), CURSORS.causes),
    deadLetters: async ask =>
      pageOf(await threads.read('deadLetters', from(ask, CURSORS.deadLetters)), CURSORS.deadLetters),
    replays: async ask => pageOf(await threads.read('replays', from(ask, CURSORS.replays)), CURSORS.replays),
    replayCounts: async replayId => (await threads.write('replayCounts', replayId)).answer,
    counters: async () => (await threads.write('counters', null)).answer,
    laneCounters: async ask =>
      pageOf(await threads.read('laneCounters', from(ask, CURSORS.laneCounters)), CURSORS.laneCounters),

    async putPolicy(ask) {
      const { now, answer } = await threads.write('putPolicy', ask)
      return { now, ...answer }
    },
    policy: async (name, version) =>
      (await threads.write('policy', { name, ...(version !== undefined && { version }) })).answer,
    policies: async ask => pageOf(await threads.read('policies', from(ask, CURSORS.policies)), CURSORS.policies),
    policyVersions: async ask =>
      pageOf(await threads.read('policyVersions', from(ask, CURSORS.policyVersions)), CURSORS.policyVersions),

    async callbacks(ask) {
      const { now, answer } = await threads.write('callbacks', from(ask, CURSORS.callbacks))
      return { now, ...pageOf(answer, CURSORS.callbacks) }
    },
    async strikeCallbacks(ends) {
      const { now } = await threads.write('strikeCallbacks', ends)
      return { now }
    },

    async writeRecord(ask) {
      const { now, answer } = await threads.write('writeRecord', ask)
      return { now, ...answer }
    },
    record: async name => (await threads.write('record', name)).answer,
    records: async ask => pageOf(await threads.read('records', from(ask, CURSORS.records)), CURSORS.records),
    auditTrail: async ask =>
      pageOf(await threads.read('auditTrail', from(ask, CURSORS.auditTrail)), CURSORS.auditTrail),
    async sweepAudit(ask) {
      const { now, answer } = await threads.write('sweepAudit', ask)
      return { now, swept: answer }
    },

    async forgetReplay(replayId) {
      const { now } = await threads.write('forgetReplay', replayId)
      return { now }
    },
    async putBody(ask) {
      const { now, answer } = await threads.write('putBody', ask)
      return { now, ...answer }
    },
    body: async name => (await threads.write('body', name)).answer,
    async sweepBodies(ask) {
      const { now, answer } = await threads.write('sweepBodies', ask)
      return { now, locations: answer }
    },
    keptLocations: async locations => (await threads.write('keptLocations', locations)).answer,

    async sweep(ask) {
      const { now, answer } = await threads.write('sweep', ask)
      return { now, swept: answer }
    },
    async sweepLanes(ask) {
      const { now, answer } = await threads.write('sweepLanes', from(ask, CURSORS.emptyLanes))
      const { items, ...rest } = pageOf(answer, CURSORS.emptyLanes)
      return { now, lanes: items, ...rest }
    },
    health: () => threads.health(),
    onHint: listener => threads.onHint(listener),
    close: () => threads.close(),
  }
}

function from<Ask extends PageAsk, Place>({ cursor, ...ask }: Ask, list: Cursor<Place>): From<Ask, Place> {
  return { ...ask, ...(cursor !== undefined && { from: list.read(cursor) }) }
}

function pageOf<Item, Place>({ items, next }: Slice<Item, Place>, list: Cursor<Place>): Page<Item> {
  return { items, ...(next !== null && { nextCursor: list.write(next) }) }
}
