import type { Replay } from '@secondwind/client'
import type { StoredReplay } from '../../replays/stored-replay.ts'
import type { TaskStore } from '../../stores/task-store.ts'
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

/** How it goes on is nobody's business but its runner's. */
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

/** More than that is many, and takes more than one look. */
const MOST_NEW = 200

/** Dead letters that fit the filter and came too late; those that the replay itself brought back are none of them. */
export async function newSince(
  { replayId, tenant, replay }: StoredReplay,
  store: TaskStore,
): Promise<NonNullable<Replay['newSince']> | undefined> {
  const { taskIds, endedFrom = 0, ...filter } = replay.filter
  if (taskIds !== undefined) return undefined
  const late = { ...filter, tenant, endedFrom: Math.max(endedFrom, replay.asOf) }
  const { items, nextCursor } = await store.deadLetters({ filter: late, limit: MOST_NEW })
  const count = items.filter(({ progress }) => progress.replayId !== replayId).length
  return { count, isExact: nextCursor === undefined }
}
