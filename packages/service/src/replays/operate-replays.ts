/** What operators do with replays. */
import type { AuditLine, TaskStore } from '../stores/task-store.ts'
import { act, newReplay, type ReplayAction, type ReplayPlan } from '../task/replay/replay.ts'
import { findReplay, newReplayId, storedReplay, writeReplay, type StoredReplay } from './stored-replay.ts'

/** Who asks, and why. */
export interface Operator {
  readonly tenant: string
  readonly actor: string
  readonly reason?: string | undefined
}

/** Of each tenant, ended ones of the last week included: more than anybody reads. */
export const MOST_REPLAYS = 200

/** Undefined when there are too many already. */
export async function planReplay(
  store: TaskStore,
  operator: Operator,
  { plan, now, random }: { readonly plan: ReplayPlan; readonly now: number; readonly random: Uint8Array },
): Promise<StoredReplay | undefined> {
  const { tenant, actor: createdBy } = operator
  const replayId = newReplayId(tenant, now, random)
  const document = { ...newReplay(plan, { createdBy, now }) }
  const audit = lineOf(operator, 'create', replayId)
  const record = { kind: 'replay', id: replayId, tenant, document, ifVersion: 0, most: MOST_REPLAYS, audit } as const
  const answer = await store.writeRecord(record)
  return answer.kind === 'written' ? storedReplay(answer.record) : undefined
}

export interface ActOnReplay {
  readonly replayId: string
  readonly action: ReplayAction
  readonly now: () => number
  /** The version it must have; left out: whatever it has. */
  readonly ifVersion?: number
}

export type ActedOn =
  | { readonly kind: 'done'; readonly stored: StoredReplay }
  /** Its status does not allow it. */
  | { readonly kind: 'refused'; readonly stored: StoredReplay }
  /** It is no longer the version that was asked for. */
  | { readonly kind: 'conflict'; readonly stored: StoredReplay }
  /** Others have changed it over and over. */
  | { readonly kind: 'contended'; readonly stored: StoredReplay }
  | { readonly kind: 'unknown' }

/** Whoever runs it writes a few times a second, and so comes in between now and then; so may other instances. */
const MOST_TRIES = 20

export async function actOnReplay(
  store: TaskStore,
  operator: Operator,
  { replayId, action, now, ifVersion }: ActOnReplay,
): Promise<ActedOn> {
  for (let tries = 1; ; tries++) {
    const stored = await findReplay(store, replayId)
    if (stored === undefined || stored.tenant !== operator.tenant) return { kind: 'unknown' }
    if (stored.version !== (ifVersion ?? stored.version)) return { kind: 'conflict', stored }
    const replay = act(stored.replay, action, { counts: await store.replayCounts(replayId), now: now() })
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
