import type { Replay } from '@secondwind/client'
import type { StoredReplay } from '../../replays/stored-replay.ts'
import type { HistoryStore } from '../../stores/store.ts'
import type { ReplayCounts } from '../../task/replay/counts.ts'
import type { ReplayDocument } from '../../task/replay/replay.ts'
import { leftOf, rateNow } from '../../task/replay/step.ts'

export function replayView(stored: StoredReplay, counted: ReplayCounts, now: number): Replay {
  const { replayId, version, replay } = stored
  const { recent: _, ...counts } = counted
  return {
    replayId,
    ...shownParts(replay),
    counts: { ...counts, left: leftOf(replay, counts) },
    rateNow: rateNow(replay, counts, now),
    version,
  }
}

/** All but the parts that only the runner needs. */
function shownParts(replay: ReplayDocument): Omit<Replay, 'replayId' | 'counts' | 'rateNow' | 'version'> {
  const { reason, waitsFor, waitsForRoom, stopped, endedFor } = replay
  return {
    status: replay.status,
    statusSince: replay.statusSince,
    filter: replay.filter,
    include: replay.include,
    ratePerSecond: replay.ratePerSecond,
    canary: replay.canary,
    stopOnFailureRate: replay.stopOnFailureRate,
    overLast: replay.overLast,
    ...(reason !== undefined && { reason }),
    createdBy: replay.createdBy,
    asOf: replay.asOf,
    selected: replay.selected,
    skipped: replay.skipped,
    destinations: replay.destinations,
    hasMoreDestinations: replay.hasMoreDestinations,
    ...(waitsFor !== undefined && { waitsFor }),
    ...(waitsForRoom && { waitsForRoom }),
    ...(stopped !== undefined && { stopped }),
    ...(endedFor !== undefined && { endedFor }),
  }
}

/** More are just many, and counting them takes more than one look. */
const MOST_NEW = 200

/** Dead letters that fit the filter and died too late, without those that the replay itself brought back. */
export async function newSince(
  { replayId, tenant, replay }: StoredReplay,
  store: Pick<HistoryStore, 'list'>,
): Promise<NonNullable<Replay['newSince']> | undefined> {
  const { taskIds, endedFrom = 0, ...filter } = replay.filter
  if (taskIds !== undefined) return undefined
  const late = { ...filter, tenant, status: 'EXHAUSTED', endedFrom: Math.max(endedFrom, replay.asOf) } as const
  const { items, nextCursor } = await store.list({ filter: late, order: 'oldest-death-first', limit: MOST_NEW })
  const count = items.filter(({ progress }) => progress.replayId !== replayId).length
  return { count, isExact: nextCursor === undefined }
}
