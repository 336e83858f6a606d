import type { TaskStore } from '../stores/task-store.ts'
import { deadLetterOf, type DeadLetter } from '../task/replay/dead-letter.ts'
import type { StoredReplay } from './stored-replay.ts'

/** Some of the dead letters that a replay is about, and where the next ones begin. */
export interface CandidatesPage {
  readonly letters: readonly DeadLetter[]
  /** Asked for by their ids, and no dead letters, or not any more. */
  readonly gone: readonly string[]
  readonly nextCursor?: string
}

/** The selection is frozen: whatever died since is no part of it. */
export async function readCandidates(
  store: TaskStore,
  { tenant, replay }: Pick<StoredReplay, 'tenant' | 'replay'>,
  page: { readonly cursor?: string | undefined; readonly limit: number },
): Promise<CandidatesPage> {
  const { taskIds, endedTo = Infinity, ...filter } = replay.filter
  if (taskIds !== undefined) return readNamed(store, { tenant, taskIds, asOf: replay.asOf }, page)
  const { items, nextCursor } = await store.deadLetters({
    filter: { ...filter, tenant, endedTo: Math.min(endedTo, replay.asOf) },
    limit: page.limit,
    ...(page.cursor !== undefined && { cursor: page.cursor }),
  })
  return { letters: items, gone: [], ...(nextCursor !== undefined && { nextCursor }) }
}

interface Named {
  readonly tenant: string
  readonly taskIds: readonly string[]
  readonly asOf: number
}

/** A cursor is how many have been looked at. */
async function readNamed(
  store: TaskStore,
  { tenant, taskIds, asOf }: Named,
  { cursor = '0', limit }: { readonly cursor?: string | undefined; readonly limit: number },
): Promise<CandidatesPage> {
  const from = Number(cursor)
  const named = taskIds.slice(from, from + limit)
  const letters: DeadLetter[] = []
  const gone: string[] = []
  for (const taskId of named) {
    const task = await store.get(taskId)
    const letter = task?.tenant === tenant ? deadLetterOf(task) : undefined
    if (letter === undefined || letter.endedAt >= asOf) gone.push(taskId)
    else letters.push(letter)
  }
  const next = from + named.length
  return { letters, gone, ...(next < taskIds.length && { nextCursor: String(next) }) }
}
