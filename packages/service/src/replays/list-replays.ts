import type { ReplayStatus } from '@secondwind/client'
import type { HistoryStore, Page, PageAsk, RecordStore } from '../stores/store.ts'
import { NO_COUNTS, type ReplayCounts } from '../task/replay/counts.ts'
import { storedReplay, type StoredReplay } from './stored-replay.ts'

interface ReplaysPage extends PageAsk {
  readonly tenant: string
  readonly status?: ReplayStatus | undefined
}

interface ListedReplay {
  readonly stored: StoredReplay
  readonly counts: ReplayCounts
}

/** A tenant's replays, the newest first. With a status a page may be short or empty, and still have a cursor. */
export async function listReplays(
  store: Pick<RecordStore, 'records'> & Pick<HistoryStore, 'replayCounts'>,
  { status, ...page }: ReplaysPage,
): Promise<Page<ListedReplay>> {
  const { items, nextCursor } = await store.records({ kind: 'replay', order: 'newest-first', ...page })
  const found = items.map(storedReplay).filter(({ replay }) => replay.status === (status ?? replay.status))
  const counts = await store.replayCounts(found.map(({ replayId }) => replayId))
  return {
    items: found.map((stored, at) => ({ stored: withoutTaskIds(stored), counts: counts[at] ?? NO_COUNTS })),
    ...(nextCursor !== undefined && { nextCursor }),
  }
}

/** A page of replays that name two hundred tasks each would be megabytes, and readers of lists do not need them. */
function withoutTaskIds({ replay, ...stored }: StoredReplay): StoredReplay {
  const { taskIds: _, ...filter } = replay.filter
  return { ...stored, replay: { ...replay, filter } }
}
