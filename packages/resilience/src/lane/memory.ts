import { within } from '../limiter/state.ts'
import type { Tokens } from '../tokens/decide.ts'
import { phaseOf, quarterCredit, quarterOf, type CreditState, type Purse } from './credit.ts'
import { LONGEST_HOLD_MS } from './decide.ts'
import { START_KINDS, type StartKind } from './kind.ts'
import type { LanePolicy } from './policy.ts'
import { newLane, type LaneState } from './state.ts'

/**
 * What must outlive the steward of a lane: flat and small, written when it changes. A purse that holds more than a quarter
 * is remembered as a quarter: so a lane that is well has nothing new to write, and one that is not begins no better.
 */
export type LaneMemory = {
  /** The destination asked to be left alone until then; 0 when it never did. */
  readonly heldUntil: number
  /** What the adaptive limit has learned; null where there is none. */
  readonly limit: number | null
  /** Of an open lane: the first failure since the last answer. */
  readonly silentSince: number | null
} & { readonly [field in `${StartKind}Balance` | `${StartKind}ProbeAt`]: number } & {
  readonly [field in `${StartKind}EmptySince`]: number | null
}

export function memoryOf(policy: LanePolicy, state: LaneState): LaneMemory {
  const { credit, heldUntil, learned } = state
  const purses = START_KINDS.map(kind => purseMemory(policy, kind, credit.purses[kind]))
  return {
    heldUntil,
    limit: learned?.limit ?? null,
    silentSince: phaseOf(policy.credit, credit) === 'open' ? credit.silentSince : null,
    ...(Object.assign({}, ...purses) as PurseMemories),
  }
}

type PurseMemories = Omit<LaneMemory, 'heldUntil' | 'limit' | 'silentSince'>

function purseMemory({ credit }: LanePolicy, kind: StartKind, { balance, emptySince, probeAt }: Purse): object {
  return {
    [`${kind}Balance`]: Math.min(balance, quarterOf(credit, kind)),
    [`${kind}EmptySince`]: emptySince,
    [`${kind}ProbeAt`]: emptySince === null ? 0 : probeAt,
  }
}

/** A lane as its next steward takes it up. A lane of which nothing is remembered begins with a quarter of its credit. */
export function laneFrom(policy: LanePolicy, memory: unknown, now: number): LaneState {
  const known = isMemory(memory) ? memory : undefined
  const state = newLane(policy, now)
  const { learned } = state
  if (learned !== undefined && policy.limiter !== undefined)
    learned.limit = within(policy.limiter, known?.limit ?? learned.limit)
  return {
    ...state,
    ...unknownSpending(policy, state, now),
    credit: known === undefined ? quarterCredit(policy.credit) : creditFrom(policy, known, now),
    heldUntil: known === undefined ? state.heldUntil : Math.min(known.heldUntil, now + LONGEST_HOLD_MS),
  }
}

/** A rate whose spending is not known begins with nothing to spend. */
export function unknownSpending(
  { budget, rateLimit }: LanePolicy,
  state: LaneState,
  now: number,
): Pick<LaneState, 'budget' | 'bucket'> {
  const nothing: Tokens = { tokens: 0, countedAt: now }
  return { budget: budget?.kind === 'rate' ? { ...nothing } : state.budget, bucket: rateLimit && { ...nothing } }
}

function creditFrom({ credit }: LanePolicy, known: LaneMemory, now: number): CreditState {
  const state = quarterCredit(credit)
  for (const kind of START_KINDS) {
    const purse = state.purses[kind]
    purse.balance = Math.min(credit.most[kind], Math.floor(known[`${kind}Balance`]))
    if (purse.balance > 0) continue
    purse.emptySince = Math.min(now, known[`${kind}EmptySince`] ?? now)
    purse.probeAt = Math.min(known[`${kind}ProbeAt`], now + credit.probeMaxMs)
  }
  // An open lane stays open for people: nothing has come back since.
  if (known.silentSince !== null) {
    state.silentSince = Math.min(now, known.silentSince)
    state.failedAt = now
  }
  return state
}

/** It comes out of a store that may be older or newer than this program; rules trust what they are given. */
function isMemory(memory: unknown): memory is LaneMemory {
  if (typeof memory !== 'object' || memory === null) return false
  const fields = memory as { readonly [field: string]: unknown }
  const isCount = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value) && value >= 0
  const isPerhaps = (value: unknown): boolean => value === null || isCount(value)
  const isPurse = (kind: StartKind): boolean =>
    isCount(fields[`${kind}Balance`]) && isCount(fields[`${kind}ProbeAt`]) && isPerhaps(fields[`${kind}EmptySince`])
  const { heldUntil, limit, silentSince } = fields
  return isCount(heldUntil) && isPerhaps(limit) && isPerhaps(silentSince) && START_KINDS.every(isPurse)
}
