/**
 * Looking at tasks again and again. One task is looked at when something can have become of it; many are listed when the
 * stream of events says that something has happened, which costs the store one page of its newest.
 */
import { ServiceError, type RetryTask, type TaskFilter } from '@secondwind/client'
import { readItems } from '../remote/listing.ts'
import { Changes } from './changes.ts'
import type { RemoteCall } from '../remote/remote-command.ts'
import type { Page } from '../terminal/page.ts'
import { showTable } from '../terminal/table.ts'
import { showTask } from './task-page.ts'
import { taskTable } from './task-table.ts'

/** What one look saw. */
export interface Look {
  /** What has changed since the look before. */
  readonly changed: readonly RetryTask[]
  /** All of it, as it is at the moment of showing. */
  readonly show: (page: Page) => string
}

type Watching = Pick<RemoteCall, 'client' | 'clock' | 'tenant'>

/** Until it ends. */
export async function* looksAtOne(
  { client, clock }: Watching,
  taskId: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<Look> {
  for await (const task of client.follow(taskId, { signal }))
    yield { changed: [task], show: page => showTask(task, clock.now(), page) }
}

interface Many {
  readonly filter: TaskFilter
  readonly limit: number
  readonly everyMs: number
}

/** Until somebody has seen enough. */
export async function* looksAtMany(call: Watching, many: Many, signal: AbortSignal | undefined): AsyncGenerator<Look> {
  const changes = new Changes(call, many.filter, many.everyMs)
  try {
    yield* looksAfter(changes, call, many, signal)
  } finally {
    changes.leave()
  }
}

async function* looksAfter(
  changes: Changes,
  { client, clock, tenant }: Watching,
  { filter, limit }: Many,
  signal: AbortSignal | undefined,
): AsyncGenerator<Look> {
  let known = new Map<string, RetryTask>()
  for (;;) {
    const { items: tasks } = await readItems(client.tasks.list(filter, { signal }), limit)
    const seen = new Map(tasks.map(task => [task.taskId, task]))
    const gone = Array.from(known.keys()).filter(taskId => !seen.has(taskId))
    const left = await Promise.all(gone.map(taskId => whatBecameOf(client, taskId, signal)))
    const changed = [...left, ...tasks].flatMap(task =>
      task !== undefined && known.get(task.taskId)?.version !== task.version ? task : [],
    )
    known = seen
    const show = (page: Page): string =>
      tasks.length === 0 ? 'No tasks match.' : showTable(taskTable(tasks, { now: clock.now(), tenant }), page)
    yield { changed, show }
    await changes.next(signal)
  }
}

/** It ended, or newer ones took its place; if nobody knows it any more there is nothing to say. */
async function whatBecameOf(
  client: RemoteCall['client'],
  taskId: string,
  signal: AbortSignal | undefined,
): Promise<RetryTask | undefined> {
  try {
    return await client.tasks.get(taskId, { signal })
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return undefined
    throw error
  }
}
