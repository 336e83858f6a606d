/** The embedded store, as the service opens it, and what a steward does with it. */
import { systemClock } from '@secondwind/resilience'
import { randomUUID } from 'node:crypto'
import { policyRecord, policyVersionRecord } from '../../../packages/service/dist/policies/policy-book.js'
import { openSqliteStore } from '../../../packages/service/dist/stores/sqlite/sqlite-store.js'
import type { Store } from '../../../packages/service/dist/stores/store.js'
import type { NewTask } from '../../../packages/service/dist/task/accept.js'
import { partitionOf, queueKey } from '../../../packages/service/dist/task/lane.js'
import { settle, type Settlement } from '../../../packages/service/dist/task/settle.js'
import type { ClaimedTask } from '../../../packages/service/dist/task/task.js'
import { laneOfUrl, POLICY, TENANT } from './tasks.ts'

export type { Store }

export async function openStore(folder: string): Promise<Store> {
  const store = await openSqliteStore({ directory: folder, clock: systemClock })
  const name = { tenant: TENANT, policyId: POLICY.policyId }
  const document = { ...POLICY.document }
  await store.write([
    { ...policyRecord(name), tenant: TENANT, document },
    { ...policyVersionRecord(name, POLICY.version), tenant: TENANT, document },
  ])
  return store
}

const CHUNK = 1_000
/** Some chunks wait while one is written. */
const CALLERS = 4

/** A folder with so many waiting tasks, made anew; one that is there already is left as it is. */
export async function fill(folder: string, count: number, task: (number: number) => NewTask): Promise<void> {
  const store = await openStore(folder)
  const { waiting } = await store.beat({ instance: 'bench', largeFrom: { tasks: Infinity, lanes: Infinity } })
  let next = waiting.tasks.PENDING
  const caller = async (): Promise<void> => {
    while (next < count) {
      const from = next
      next = Math.min(count, from + CHUNK)
      await addAll(
        store,
        Array.from({ length: next - from }, (_, index) => task(from + index)),
      )
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
  await store.close()
}

/** What is not new was counted twice by somebody. */
export async function addAll(store: Store, tasks: readonly NewTask[]): Promise<void> {
  const { results } = await store.enqueue(tasks)
  const refused = results.find(({ kind }) => kind !== 'created')
  if (refused !== undefined) throw new Error(`a task was not created: ${refused.kind}`)
}

export interface StewardedQueue {
  claim(count: number): Promise<readonly ClaimedTask[]>
}

/** The first attempts to one destination, claimed as the dispatcher would. */
export async function stewardOf(store: Store, url: string): Promise<StewardedQueue> {
  const lane = laneOfUrl(url)
  const partition = partitionOf(lane)
  const queue = queueKey({ policyId: POLICY.policyId, kind: 'first', rank: 'normal' })
  const steward = randomUUID()
  const { taken } = await store.take({ partition, instance: 'bench', token: steward, from: null })
  if (!taken) throw new Error('the partition has another steward')
  return {
    claim: async count => {
      const asks = [{ lane, queue, count, limit: count }]
      const { answers } = await store.claim([{ partition, steward, token: randomUUID(), asks }])
      const [answer] = answers
      if (answer?.kind !== 'claimed') throw new Error('the partition has another steward')
      return answer.tasks
    },
  }
}

/** The settlement of an attempt that its target answered with 200. */
export function succeed(task: ClaimedTask): Settlement {
  const result = { startedAt: task.dueAt, durationMs: 5, outcome: { kind: 'success' } as const, responseStatus: 200 }
  return settle(task, POLICY.document, result, { now: task.dueAt, roll: 0, expectedCallMs: 5 })
}
