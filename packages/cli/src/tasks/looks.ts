/**
 * Looking at tasks again and again. One task is looked at when something can have become of it; many are listed every so
 * often, which costs the store one page of its newest.
 */
import { ServiceError, type RetryTask, type TaskFilter } from '@secondwind/client'
import { readItems } from '../remote/listing.ts'
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

type Watching = Pick<RemoteCall, 'client' | 'clock'>

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
export async function* looksAtMany(
  { client, clock }: Watching,
  { filter, limit, everyMs }: Many,
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
      tasks.length === 0 ? 'No tasks match.' : showTable(taskTable(tasks, clock.now()), page)
    yield { changed, show }
    await clock.sleep(everyMs, signal)
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
