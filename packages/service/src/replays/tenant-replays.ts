/**
 * The replays of one tenant that are not at rest, as they were at the last look, and when the next step is due. Each tenant has
 * looks and turns of its own: whatever one does with its replays, those of another go on.
 *
 *  1. A tenant's turn is one step of the replay that is due longest, however many it has.
 *  2. If a replay has changed, a look comes first: another one may have been started before it. Looks keep a distance, so
 *     that a tenant that changes its replays all the time makes only itself wait.
 */
import { isUnderWay, overlap } from '../task/replay/replay.ts'
import type { StoredReplay } from './stored-replay.ts'

export interface TenantReplays {
  readonly tenant: string
  readonly awake: Map<string, AwakeReplay>
  lookedAt: number
  isLookDue: boolean
  /** Not before. */
  nextLookAt: number
}

export interface AwakeReplay {
  readonly stored: StoredReplay
  dueAt: number
}

/** Between two looks at the replays of one tenant. */
const LOOKS_APART_MS = 50

/** To be looked at. */
export function newTenantReplays(tenant: string): TenantReplays {
  return { tenant, awake: new Map(), lookedAt: -Infinity, isLookDue: true, nextLookAt: -Infinity }
}

/** What a look has found. Who has not changed since is due when it was. */
export function seeReplays(replays: TenantReplays, found: readonly StoredReplay[], lookedAt: number): void {
  const before = new Map(replays.awake)
  replays.awake.clear()
  replays.lookedAt = lookedAt
  replays.nextLookAt = lookedAt + LOOKS_APART_MS
  for (const stored of found) {
    const known = before.get(stored.replayId)
    const isSame = known?.stored.version === stored.version
    replays.awake.set(stored.replayId, { stored, dueAt: isSame ? known.dueAt : lookedAt })
  }
}

/** When the tenant's next turn is. */
export function turnAt(replays: TenantReplays): number {
  return replays.isLookDue ? replays.nextLookAt : (firstDue(replays)?.dueAt ?? Infinity)
}

export function firstDue({ awake }: TenantReplays): AwakeReplay | undefined {
  let first: AwakeReplay | undefined
  for (const each of awake.values()) if (first === undefined || each.dueAt < first.dueAt) first = each
  return first
}

/** The first of those that were set going earlier and send to the same destination. */
export function aheadOf({ replayId, replay }: StoredReplay, { awake }: TenantReplays): string | undefined {
  const isEarlier = (other: StoredReplay): boolean =>
    other.replay.start.at < replay.start.at || (other.replay.start.at === replay.start.at && other.replayId < replayId)
  for (const { stored: other } of awake.values())
    if (other.replayId !== replayId && isUnderWay(other.replay) && isEarlier(other) && overlap(other.replay, replay))
      return other.replayId
  return undefined
}
