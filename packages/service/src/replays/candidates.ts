import type { HistoryStore, QueueStore } from '../stores/store.ts'
import { deadLetterOf, type DeadLetter } from '../task/replay/dead-letter.ts'
import type { StoredReplay } from './stored-replay.ts'

/** Some of the dead letters that a replay is about, and where the next ones begin. */
export interface CandidatesPage {
  readonly letters: readonly DeadLetter[]
  /** Tasks that the filter names, and that are not, or no longer, dead letters. */
  readonly gone: readonly string[]
  readonly nextCursor?: string
}

type Tasks = Pick<QueueStore, 'get'> & Pick<HistoryStore, 'list'>

/** The selection is frozen: a task that died after the plan was made is no part of it. A page may be short. */
export async function readCandidates(
  store: Tasks,
  { tenant, replay }: Pick<StoredReplay, 'tenant' | 'replay'>,
  page: { readonly cursor?: string | undefined; readonly limit: number },
): Promise<CandidatesPage> {
  const { taskIds, endedTo = Infinity, ...filter } = replay.filter
  if (taskIds !== undefined) return readNamed(store, { tenant, taskIds, asOf: replay.asOf }, page)
  const { items, nextCursor } = await store.list({
    filter: { ...filter, tenant, status: 'EXHAUSTED', endedTo: Math.min(endedTo, replay.asOf) },
    order: 'oldest-death-first',
    limit: page.limit,
    ...(page.cursor !== undefined && { cursor: page.cursor }),
  })
  const letters = items.map(deadLetterOf).filter(letter => letter !== undefined)
  return { letters, gone: [], ...(nextCursor !== undefined && { nextCursor }) }
}

interface Named {
  readonly tenant: string
  readonly taskIds: readonly string[]
  readonly asOf: number
}

/** A cursor is the number of tasks that were looked at. */
async function readNamed(
  store: Tasks,
  { tenant, taskIds, asOf }: Named,
  { cursor = '0', limit }: { readonly cursor?: string | undefined; readonly limit: number },
): Promise<CandidatesPage> {
  const from = Number(cursor)
  const named = taskIds.slice(from, from + limit)
  const tasks = await store.get(named)
  const letters = tasks
    .filter(task => task.tenant === tenant)
    .map(deadLetterOf)
    .filter(letter => letter !== undefined)
    .filter(({ endedAt }) => endedAt < asOf)
  const found = new Set(letters.map(({ taskId }) => taskId))
  const gone = named.filter(taskId => !found.has(taskId))
  const next = from + named.length
  return { letters, gone, ...(next < taskIds.length && { nextCursor: String(next) }) }
}
