/**
 * A rate that tenants share. Whoever takes a token owes it; debts are paid off at the rate, in equal parts by all who have
 * one, and what one does not need of its part goes to the others.
 *
 *  1. In any t seconds at most `burst + perSecond × t` tokens are taken, by whomever.
 *  2. A tenant owes at most nine times what is free then, as with slots: whoever is alone has the whole rate, and a
 *     newcomer finds a token beside somebody who asks without end.
 *  3. Tenants that ask without end have equal rates.
 *
 * Who owes nothing is forgotten. The state is changed in place.
 */
import { shares } from '@secondwind/resilience/rules'

export interface SharedRate {
  readonly perSecond: number
  readonly burst: number
  /** By tenant; together never more than the burst. */
  readonly debts: Map<string, number>
  /** Until then they are paid off. */
  paidAt: number
}

export function newSharedRate(limits: Pick<SharedRate, 'perSecond' | 'burst'>, now: number): SharedRate {
  return { ...limits, debts: new Map(), paidAt: now }
}

/** Thirds do not add up to one. */
const EPSILON = 1e-6

/** Takes a token: 0, or the ms until the tenant's part of the rate makes another one. */
export function takeToken(rate: SharedRate, tenant: string, now: number): number {
  payOff(rate, now)
  const { perSecond, burst, debts } = rate
  const owed = [...debts.values()].reduce((all, debt) => all + debt, 0)
  const debt = debts.get(tenant) ?? 0
  const free = Math.floor(burst - owed + EPSILON)
  if (shares.mostFor({ free, ofTenant: debt, ofLane: 0 }) <= 0) return (Math.max(1, debts.size) / perSecond) * 1_000
  debts.set(tenant, debt + 1)
  return 0
}

function payOff(rate: SharedRate, now: number): void {
  const { perSecond, debts } = rate
  let paid = (perSecond * Math.max(0, now - rate.paidAt)) / 1_000
  rate.paidAt = Math.max(rate.paidAt, now)
  // In each round somebody is free of debt, or all that there is was paid.
  while (paid > 0 && debts.size > 0) {
    const part = paid / debts.size
    paid = 0
    for (const [tenant, debt] of debts) {
      paid += Math.max(0, part - debt)
      if (debt > part) debts.set(tenant, debt - part)
      else debts.delete(tenant)
    }
  }
}
