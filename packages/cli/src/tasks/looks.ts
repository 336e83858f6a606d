/**
 * Looking at tasks again and again. One task is looked at when something can have become of it; many are listed when the
 * stream of events says that something has happened, which costs the store one page of its newest.
 */
import { ServiceError, type RetryTask, type TaskFilter } from '@secondwind/client'
import { AWAY_LOOK_MS, isAway } from '../remote/away.ts'
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
  /** Since when nobody answers: what is shown was seen before. */
  readonly awaySince?: number
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

/** Read so often, a task is told of by what the service says at that moment: its sentence and its times are of one instant. */
const READ_MS = 1_000

/** The same for somebody who sits in front of it. */
export async function* readingsOfOne(
  { client, clock }: Watching,
  taskId: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<Look> {
  let known: RetryTask | undefined
  const read = async (): Promise<Look> => {
    const task = await client.tasks.get(taskId, { signal })
    const changed = known?.version === task.version ? [] : [task]
    known = task
    const readAt = clock.now()
    return { changed, show: page => showTask(task, readAt, page) }
  }
  const pause = (): Promise<void> => clock.sleep(READ_MS, signal)
  for await (const look of looks({ clock, read, pause, longestAwayMs: Number.POSITIVE_INFINITY }, signal)) {
    yield look
    if (known?.endedAt !== undefined) return
  }
}

interface Many {
  readonly filter: TaskFilter
  readonly limit: number
  readonly everyMs: number
  readonly longestAwayMs: number
}

/** Until somebody has seen enough. */
export async function* looksAtMany(call: Watching, many: Many, signal: AbortSignal | undefined): AsyncGenerator<Look> {
  const { clock } = call
  const { longestAwayMs } = many
  const changes = new Changes(call, many.filter, many.everyMs)
  try {
    const pause = (): Promise<void> => changes.next(signal)
    yield* looks({ clock, read: readerOfMany(call, many, signal), pause, longestAwayMs }, signal)
  } finally {
    changes.leave()
  }
}

function readerOfMany(
  { client, clock, tenant }: Watching,
  { filter, limit }: Many,
  signal: AbortSignal | undefined,
): () => Promise<Look> {
  let known = new Map<string, RetryTask>()
  return async () => {
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
    return { changed, show }
  }
}

interface Looking {
  readonly clock: RemoteCall['clock']
  readonly read: () => Promise<Look>
  /** Between two looks. */
  readonly pause: () => Promise<void>
  readonly longestAwayMs: number
}

/** Look after look. A service that was never there is an error at once; one that was may come back. */
async function* looks(looking: Looking, signal: AbortSignal | undefined): AsyncGenerator<Look> {
  let look = await looking.read()
  for (;;) {
    yield look
    await looking.pause()
    look = yield* nextLook(look, looking, signal)
  }
}

/** Until there is one, the last again, and since when nobody answers. */
async function* nextLook(
  last: Look,
  { clock, read, longestAwayMs }: Looking,
  signal: AbortSignal | undefined,
): AsyncGenerator<Look, Look> {
  const awaySince = clock.now()
  for (;;) {
    try {
      return await read()
    } catch (error) {
      if (signal?.aborted || !isAway(error) || clock.now() - awaySince >= longestAwayMs) throw error
    }
    yield { changed: [], show: last.show, awaySince }
    await clock.sleep(AWAY_LOOK_MS, signal)
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
