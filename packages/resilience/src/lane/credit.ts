/**
 * Credit: how many attempts a lane may send before its destination answers. It protects the destination and keeps no
 * task waiting that would succeed: the first answer gives more credit than it cost.
 *
 *  1. Attempts of each kind have a purse. It is full at the start.
 *  2. An attempt that is sent takes 1 from the purse of its kind. Only one that the service cut off when it stopped gives
 *     it back: an owner who cancels its own requests must not send more.
 *  3. An answer puts `perAnswer` into every purse, up to `most`. So a destination that fails every first attempt and
 *     accepts the second is not taken for dead.
 *  4. The credit that an answered attempt took comes back even above `most`, and lasts a second there. Without that, a
 *     hundred answers at one moment would allow `most` new attempts, and a fast destination would be served half as fast.
 *     What a purse holds above `most`, together with its attempts under way, is never more than the lane's limit.
 *  5. A kind whose purse is empty sends one probe in each interval, counted from the start of the last probe: a part of
 *     the time since the purse ran empty. A probe may overlap one that hangs.
 *  6. Probes take in turn the task that is due longest and the one that became due last: else they would go through all
 *     tasks that always fail first.
 *
 * It bounds the load: attempts ≤ the sum of `perAnswer` × answers + the sum of `most` + probes.
 */
import type { Outcome } from '../classify/outcome.ts'
import { START_KINDS, type PerKind, type StartKind } from './kind.ts'

export interface CreditPolicy {
  /** What one answer puts into each purse. */
  readonly perAnswer: PerKind<number>
  /** What each purse holds at most. */
  readonly most: PerKind<number>
  /** The interval between probes, as a part of the time since the purse ran empty, within the two bounds. */
  readonly probeShare: number
  readonly probeMinMs: number
  readonly probeMaxMs: number
}

export interface Purse {
  balance: number
  /** Since when it has been empty; null while it is not. */
  emptySince: number | null
  /** While it is empty: no probe starts before. */
  probeAt: number
  /** Probes that it has sent: they take the two ends of the queue in turn. */
  probes: number
}

export interface CreditState {
  readonly purses: PerKind<Purse>
  /** When the destination last answered; 0: not since this lane is served here. */
  answeredAt: number
  /** When an attempt last ended without an answer, and the first one that did since the last answer. */
  failedAt: number
  silentSince: number | null
}

/** What an attempt has cost. */
export type Spent =
  | { readonly from: 'purse'; readonly kind: StartKind }
  /** The purse was empty. It allowed this probe from `probeAt` on, and the next one from `nextAt` on. */
  | { readonly from: 'probe'; readonly kind: StartKind; readonly probeAt: number; readonly nextAt: number }
  /** Asked for by hand while its purse was empty: one at a time. */
  | { readonly from: 'hand' }
  /** An operator holds the breaker closed. */
  | { readonly from: 'order' }

export type CreditPhase = 'closed' | 'open' | 'half-open'

export interface Moment {
  readonly now: number
  /** A die in [0, 1). */
  readonly roll: number
}

/** Probes of many lanes must not march in step: each interval is shortened by up to a fifth. */
const PROBE_SPREAD = 0.2

/** Below this part of a purse a destination that answers is still coming back. A lane of which nothing is known begins with it. */
const QUARTER = 1 / 4

/** Credit above `most` is there for the tasks that wait now, not for an outage later. */
const SURPLUS_LASTS_MS = 1_000

/** So long without an answer, and tasks that failed meanwhile are recalled by the first one. */
const SILENCE_MS = 1_000

export function fullCredit({ most }: CreditPolicy): CreditState {
  return creditWith(kind => most[kind])
}

/** Nothing is known of the lane: its next answers decide. */
export function quarterCredit(policy: CreditPolicy): CreditState {
  return creditWith(kind => quarterOf(policy, kind))
}

/** One attempt at least: a lane of nothing could never learn. */
export function quarterOf({ most }: CreditPolicy, kind: StartKind): number {
  return Math.max(1, Math.floor(most[kind] * QUARTER))
}

function creditWith(balanceOf: (kind: StartKind) => number): CreditState {
  const purse = (kind: StartKind): Purse => ({ balance: balanceOf(kind), emptySince: null, probeAt: 0, probes: 0 })
  const purses = { first: purse('first'), retry: purse('retry'), late: purse('late') }
  return { purses, answeredAt: 0, failedAt: 0, silentSince: null }
}

/** Whether the destination has shown itself at work: it did what was asked, or refused it for good in a response. */
export function isAnswer(outcome: Outcome, status: number | undefined): boolean {
  return outcome.kind === 'success' || (outcome.fault === 'permanent' && status !== undefined)
}

/** Whether an attempt speaks against the destination. One that was cut off from here says nothing. */
export function hasFailed(outcome: Outcome, status: number | undefined): boolean {
  return !isAnswer(outcome, status) && !(outcome.kind === 'failure' && outcome.fault === 'ignored')
}

/** How many attempts of a kind may be sent now. */
export function creditAt(policy: CreditPolicy, state: CreditState, kind: StartKind, now: number): number {
  const { balance, probeAt } = state.purses[kind]
  if (balance === 0) return now >= probeAt ? 1 : 0
  return now > state.answeredAt + SURPLUS_LASTS_MS ? Math.min(policy.most[kind], balance) : balance
}

export function isEmpty({ balance }: Purse): boolean {
  return balance === 0
}

/** Whether the next attempt is a probe that takes the task that became due last. */
export function takesBack(purse: Purse): boolean {
  return isEmpty(purse) && purse.probes % 2 === 1
}

/** The interval between probes of a purse that has been empty for so long. */
export function probeIntervalMs({ probeShare, probeMinMs, probeMaxMs }: CreditPolicy, emptyMs: number): number {
  return Math.min(probeMaxMs, Math.max(probeMinMs, emptyMs * probeShare))
}

/** An attempt is sent. `creditAt` was asked before. */
export function spend(policy: CreditPolicy, state: CreditState, kind: StartKind, { now, roll }: Moment): Spent {
  const purse = state.purses[kind]
  if (!isEmpty(purse)) {
    purse.balance = creditAt(policy, state, kind, now) - 1
    if (isEmpty(purse)) {
      purse.emptySince = now
      purse.probeAt = now + policy.probeMinMs
    }
    return { from: 'purse', kind }
  }
  const { probeAt, emptySince } = purse
  const intervalMs = probeIntervalMs(policy, now - (emptySince ?? now))
  purse.probeAt = now + Math.ceil(intervalMs * (1 - PROBE_SPREAD * roll))
  purse.probes++
  return { from: 'probe', kind, probeAt, nextAt: purse.probeAt }
}

/** The attempt was not sent after all: its purse and its turn as a probe are as before. */
export function unspend(state: CreditState, spent: Spent): void {
  if (spent.from !== 'probe') return giveBack(state, spent)
  const purse = state.purses[spent.kind]
  // Another probe may have started since: its interval counts.
  if (!isEmpty(purse) || purse.probeAt !== spent.nextAt) return
  purse.probeAt = spent.probeAt
  purse.probes--
}

/** The service itself cut the attempt off: it says nothing about the destination. A probe stays a probe: it was sent. */
export function giveBack({ purses }: CreditState, spent: Spent): void {
  if (spent.from !== 'purse') return
  const purse = purses[spent.kind]
  purse.balance++
  purse.emptySince = null
}

/** A probe would have taken a task that cannot end in time: the next one takes the other end of the queue. */
export function passOver(purse: Purse): void {
  if (isEmpty(purse)) purse.probes++
}

/** The destination has answered. True when it had been silent, so that what failed meanwhile is worth another attempt. */
export function answer(policy: CreditPolicy, state: CreditState, spent: Spent, now: number): boolean {
  for (const kind of START_KINDS) {
    const purse = state.purses[kind]
    if (!isEmpty(purse)) purse.balance = creditAt(policy, state, kind, now)
    // Its own credit first: in the other order a quiet lane would gain one with each answer.
    const own = spent.from === 'purse' && spent.kind === kind ? 1 : 0
    purse.balance += own
    add(purse, policy.perAnswer[kind] - own, policy.most[kind])
  }
  const wasSilent = state.silentSince !== null && now - state.silentSince >= SILENCE_MS
  state.answeredAt = now
  state.silentSince = null
  return wasSilent
}

/** An attempt has ended without an answer. */
export function noAnswer(state: CreditState, now: number): void {
  state.failedAt = now
  state.silentSince ??= now
}

/**
 * As people see it. Open: a purse is empty, and an attempt that ended later than the first probe was due has failed, too.
 * Half-open: answers come, failures came shortly before or come as well, and a purse is still below a quarter. Without
 * failures a low purse shows only that many attempts are under way.
 */
export function phaseOf(
  { most, probeMinMs, probeMaxMs }: CreditPolicy,
  { purses, answeredAt, failedAt }: CreditState,
): CreditPhase {
  const isSilent = ({ emptySince }: Purse): boolean => emptySince !== null && failedAt >= emptySince + probeMinMs
  if (START_KINDS.some(kind => isSilent(purses[kind]))) return 'open'
  const isLow = START_KINDS.some(kind => purses[kind].balance < most[kind] * QUARTER)
  const isBack = answeredAt > 0 && failedAt >= answeredAt - probeMaxMs
  return isLow && isBack ? 'half-open' : 'closed'
}

/** The next probe of any kind; undefined while every purse has something. */
export function nextProbeAt({ purses }: CreditState): number | undefined {
  const empty = START_KINDS.map(kind => purses[kind]).filter(isEmpty)
  return empty.length === 0 ? undefined : Math.min(...empty.map(({ probeAt }) => probeAt))
}

/** The same purses under another document: they keep what they hold, and their next probe, as far as both fit. */
export function creditUnder(policy: CreditPolicy, state: CreditState, now: number): CreditState {
  const under = (kind: StartKind): Purse => {
    const { balance, probeAt, ...rest } = state.purses[kind]
    const intervalMs = probeIntervalMs(policy, now - (rest.emptySince ?? now))
    return { ...rest, balance: Math.min(policy.most[kind], balance), probeAt: Math.min(probeAt, now + intervalMs) }
  }
  return { ...state, purses: { first: under('first'), retry: under('retry'), late: under('late') } }
}

/** A balance that lies above `most` stays: it is surplus. */
function add(purse: Purse, count: number, most: number): void {
  purse.balance = Math.max(purse.balance, Math.min(most, purse.balance + count))
  purse.emptySince = null
}
