/** What operators do with replays. */
import { isRoomFor } from '../stores/record-pages.ts'
import type { AuditLine, HistoryStore, RecordStore } from '../stores/store.ts'
import { act, newReplay, type ReplayAction, type ReplayPlan } from '../task/replay/replay.ts'
import { countsOf, findReplay, newReplayId, writeReplay, type StoredReplay } from './stored-replay.ts'

/** Who asks, and why. */
export interface Operator {
  readonly tenant: string
  readonly actor: string
  readonly reason?: string | undefined
}

/** Of each tenant, with those that ended within the last week. No person reads more. */
export const MOST_REPLAYS = 200

/** Undefined when there are too many already. */
export async function planReplay(
  store: Pick<RecordStore, 'records' | 'write'>,
  operator: Operator,
  { plan, now, random }: { readonly plan: ReplayPlan; readonly now: number; readonly random: Uint8Array },
): Promise<StoredReplay | undefined> {
  const { tenant, actor: createdBy } = operator
  if (!(await isRoomFor(store, { kind: 'replay', tenant, most: MOST_REPLAYS }))) return undefined
  const replayId = newReplayId(tenant, now, random)
  const planned = { replayId, tenant, version: 0 }
  return writeReplay(store, planned, newReplay(plan, { createdBy, now }), lineOf(operator, 'create', replayId))
}

export interface ActOnReplay {
  readonly replayId: string
  readonly action: ReplayAction
  readonly now: () => number
  /** The version it must have; left out: any. */
  readonly ifVersion?: number
}

export type ActedOn =
  | { readonly kind: 'done'; readonly stored: StoredReplay }
  /** Its status does not allow it. */
  | { readonly kind: 'refused'; readonly stored: StoredReplay }
  /** It is no longer the version that was asked for. */
  | { readonly kind: 'conflict'; readonly stored: StoredReplay }
  /** Other callers have changed it at every try. */
  | { readonly kind: 'contended'; readonly stored: StoredReplay }
  | { readonly kind: 'unknown' }

/** The runner writes it a few times a second, and so it comes in between now and then. Other instances may, too. */
const MOST_TRIES = 20

export async function actOnReplay(
  store: Pick<RecordStore, 'record' | 'write'> & Pick<HistoryStore, 'replayCounts'>,
  operator: Operator,
  { replayId, action, now, ifVersion }: ActOnReplay,
): Promise<ActedOn> {
  for (let tries = 1; ; tries++) {
    const stored = await findReplay(store, replayId)
    if (stored === undefined || stored.tenant !== operator.tenant) return { kind: 'unknown' }
    if (stored.version !== (ifVersion ?? stored.version)) return { kind: 'conflict', stored }
    const replay = act(stored.replay, action, { counts: await countsOf(store, replayId), now: now() })
    if (replay === undefined) return { kind: 'refused', stored }
    if (replay === stored.replay) return { kind: 'done', stored }
    const details = action.kind === 'resume' ? { ratePerSecond: replay.ratePerSecond } : undefined
    const written = await writeReplay(store, stored, replay, lineOf(operator, action.kind, replayId, details))
    if (written !== undefined) return { kind: 'done', stored: written }
    if (tries === MOST_TRIES) return { kind: 'contended', stored }
  }
}

function lineOf(
  { tenant, actor, reason }: Operator,
  action: ReplayAction['kind'] | 'create',
  subject: string,
  details?: AuditLine['details'],
): AuditLine {
  return {
    tenant,
    actor,
    action: `replay.${action}`,
    subject,
    ...(reason !== undefined && { reason }),
    ...(details !== undefined && { details }),
  }
}
