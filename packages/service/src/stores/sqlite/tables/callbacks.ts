import type { GiveUpReason } from '@secondwind/resilience'
import { laneOfCallback, type Callback } from '../../../task/callback.ts'
import { laneKey } from '../../../task/lane.ts'
import type { CallbacksPage, EndName } from '../../task-store.ts'
import type { Connection } from '../file/connection.ts'
import type { From, Slice } from '../rows/slice.ts'

/** Ends that somebody wants to hear of. */
export interface Callbacks {
  /** A task came that has one. */
  expect(): void
  /** Where the end of this task is to be told; nearly always nowhere, and then nothing is read. */
  urlOf(seq: number): string | undefined
  add(callback: Callback): void
  due(ask: DueCallbacks): Slice<Callback, [lane: string]>
  strike(end: EndName): void
  /** The task is forgotten before its end was told: what is to be told takes the address along. */
  outlive(task: { readonly taskId: string; readonly callbackUrl: string }): void
  /** Reads whether any task has one. */
  recall(): void
}

export type DueCallbacks = From<CallbacksPage, [lane: string]>

type CallbackRow = [
  taskId: string,
  generation: number,
  tenant: string,
  callbackUrl: string,
  status: Callback['status'],
  reason: GiveUpReason | null,
  attemptNumber: number,
]

/** The address is the task's own, and may be long: it is not written a second time as long as there is the task. */
const URL_OF_TASK = ''

export function createCallbacks(connection: Connection): Callbacks {
  // By the index of those that have one: else all tasks are read at every start.
  const readAny = connection.row<[number]>(
    `select seq from task indexed by task_with_callback
     where callback_url is not null and seq > 0 order by seq limit 1`,
  )
  const readUrl = connection.row<[string | null]>('select callback_url from task where seq = ?')
  const insert = connection.write(
    `insert into callback (task_id, generation, tenant, callback_url, status, reason, attempt_number, lane)
     values (?, ?, ?, '${URL_OF_TASK}', ?, ?, ?, ?) on conflict do nothing`,
  )
  const readLane = connection.row<[string]>('select lane from callback where lane > ? order by lane limit 1')
  const readDue = connection.rows<CallbackRow>(
    `select callback.task_id, callback.generation, tenant, coalesce(task.callback_url, callback.callback_url), status,
       reason, callback.attempt_number
     from callback left join task using (task_id) where lane = ? order by callback_id limit ?`,
  )
  const remove = connection.write('delete from callback where task_id = ? and generation = ?')
  const takeAlong = connection.write('update callback set callback_url = ? where task_id = ?')
  let isExpected = false
  return {
    expect() {
      isExpected = true
    },
    urlOf: seq => (isExpected ? (readUrl(seq)?.[0] ?? undefined) : undefined),
    add(callback) {
      const { taskId, generation, tenant, status, reason, attemptNumber } = callback
      insert(taskId, generation, tenant, status, reason ?? null, attemptNumber, laneKey(laneOfCallback(callback)))
    },
    due({ limit, perLane, from: [behind] = [''] }) {
      const items: Callback[] = []
      for (let lane = readLane(behind)?.[0]; lane !== undefined;) {
        items.push(...readDue(lane, Math.min(perLane, limit - items.length)).map(callbackOf))
        const next = readLane(lane)?.[0]
        if (items.length >= limit && next !== undefined) return { items, next: [lane] }
        lane = next
      }
      return { items, next: null }
    },
    strike: ({ taskId, generation }) => remove(taskId, generation),
    outlive: ({ taskId, callbackUrl }) => takeAlong(callbackUrl, taskId),
    recall() {
      isExpected = readAny() !== undefined
    },
  }
}

function callbackOf([taskId, generation, tenant, callbackUrl, status, reason, attemptNumber]: CallbackRow): Callback {
  return { taskId, generation, tenant, callbackUrl, status, ...(reason !== null && { reason }), attemptNumber }
}
