/**
 * A rate that tenants share. Whoever takes a token owes it; debts are paid off at the rate, in equal parts by all who have
 * one, and what one does not need of its part goes to the others. Nobody can queue, so whoever is turned away is
 * remembered for a while: its part goes on, and is kept for it.
 *
 *  1. In any t seconds at most `burst + perSecond × t` tokens are taken, and one more, by whomever; where more tenants
 *     are expected back than the burst has tokens, one for each of them stands in its place.
 *  2. A tenant owes at most nine times what is free then, as with slots: whoever is alone has the whole rate, and a
 *     newcomer finds a token beside somebody who asks without end; where the burst is too small for that, the next one.
 *  3. Whoever asks without end has its part of the rate, however fast or seldom others ask, and what those leave of
 *     theirs: nothing is lost but what is kept for them then.
 *
 * Who owes nothing, and is owed nothing, is forgotten. The state is changed in place.
 */
import { shares } from '@secondwind/resilience/rules'

export interface SharedRate {
  readonly perSecond: number
  readonly burst: number
  /** Tokens that are there, kept ones among them. */
  tokens: number
  readonly accounts: Map<string, Account>
  /** Until then they are paid off. */
  paidAt: number
}

/** Of a tenant. */
export interface Account {
  /** Tokens that it owes; below zero, those that are kept for it. */
  debt: number
  /** It was turned away, and is expected back until then. */
  expectedUntil: number
}

export function newSharedRate(limits: Pick<SharedRate, 'perSecond' | 'burst'>, now: number): SharedRate {
  return { ...limits, tokens: limits.burst, accounts: new Map(), paidAt: now }
}

/** Thirds do not add up to one. */
const EPSILON = 1e-6

/** Who is turned away may come back so much later than it was told. */
const LATE_MS = 2_000

/** Takes a token: 0, or the ms until the tenant's part of the rate makes another one. */
export function takeToken(rate: SharedRate, tenant: string, now: number): number {
  payOff(rate, now)
  const { perSecond, accounts } = rate
  const account = accounts.get(tenant) ?? { debt: 0, expectedUntil: -Infinity }
  accounts.set(tenant, account)
  const free = Math.floor(rate.tokens - keptBefore(rate, account) + EPSILON)
  if (shares.mostFor({ free, ofTenant: account.debt, ofLane: 0 }) > 0) {
    account.debt++
    rate.tokens--
    return 0
  }
  const waitMs = (accounts.size / perSecond) * 1_000
  // Twice as long: those who are turned away together are told to come back apart.
  account.expectedUntil = rate.paidAt + 2 * waitMs + LATE_MS
  return waitMs
}

/** Tokens for those who have waited for more of them. */
function keptBefore({ accounts }: SharedRate, { debt }: Account): number {
  return keptFor([...accounts.values()].filter(other => other.debt < debt - EPSILON))
}

function keptFor(accounts: Iterable<Account>): number {
  let kept = 0
  for (const { debt } of accounts) kept += Math.max(0, -debt)
  return kept
}

function payOff(rate: SharedRate, now: number): void {
  const { perSecond, burst, accounts } = rate
  const made = (perSecond * Math.max(0, now - rate.paidAt)) / 1_000
  rate.paidAt = Math.max(rate.paidAt, now)
  // What is kept for all together is no more than the burst, unless they are more than that.
  const mostKept = Math.max(1, burst / accounts.size)
  const lowestOf = ({ expectedUntil }: Account): number => (rate.paidAt < expectedUntil ? -mostKept : 0)

  let paid = made
  for (const account of accounts.values()) {
    const over = Math.max(0, lowestOf(account) - account.debt)
    account.debt += over
    paid += over
  }
  let unpaid = [...accounts.values()].filter(account => account.debt > lowestOf(account))
  // In each round somebody has all that it can have, or all that there is was paid.
  while (paid > 0 && unpaid.length > 0) {
    const part = paid / unpaid.length
    paid = 0
    for (const account of unpaid) {
      const pays = Math.min(part, account.debt - lowestOf(account))
      account.debt = pays < part ? lowestOf(account) : account.debt - part
      paid += part - pays
    }
    unpaid = unpaid.filter(account => account.debt > lowestOf(account))
  }
  // Kept tokens do not stop the making of others: one that nobody comes for would keep everybody waiting.
  rate.tokens = Math.min(rate.tokens + made, Math.max(burst, keptFor(accounts.values()) + 1))
  for (const [tenant, account] of accounts)
    if (account.debt < EPSILON && lowestOf(account) === 0) accounts.delete(tenant)
}
