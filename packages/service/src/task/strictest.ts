/** The limits of a tenant and of an operator together: neither gets more than the other allows. */
import { creditOver, withCreditDefaults, withLaneDefaults } from '@secondwind/resilience/rules'
import type { CreditInput, laneCredit, laneKind, LaneInput } from '@secondwind/resilience/rules'
import type { DestinationLimits } from './destination-settings.ts'

type Budget = NonNullable<DestinationLimits['budget']>
type Rate = NonNullable<DestinationLimits['rateLimit']>

/**
 * Where numbers cannot be compared, as of budgets of two kinds, `first` decides. A field that `first` leaves out of a part
 * that it sets is as for every lane, unless `second` is stricter.
 */
export function strictest(
  first: DestinationLimits | undefined,
  second: DestinationLimits | undefined,
  usual: LaneInput = {},
): DestinationLimits | undefined {
  return both(first, second, (one, other) => strictestOf(one, other, usual))
}

function strictestOf(first: DestinationLimits, second: DestinationLimits, usual: LaneInput): DestinationLimits {
  const concurrency = both(first.concurrency, second.concurrency, Math.min)
  const rateLimit = both(first.rateLimit, second.rateLimit, strictestRate)
  const credit = both(first.credit, second.credit, (one, other) =>
    strictestCredit(withCreditDefaults(creditOver(usual.credit, one)), other),
  )
  const budget = both(first.budget, second.budget, strictestBudget)
  return {
    ...(concurrency !== undefined && { concurrency }),
    ...(rateLimit !== undefined && { rateLimit }),
    ...(credit !== undefined && { credit }),
    ...(budget !== undefined && { budget }),
  }
}

function both<Value>(
  first: Value | undefined,
  second: Value | undefined,
  together: (first: Value, second: Value) => Value,
): Value | undefined {
  return first === undefined || second === undefined ? (first ?? second) : together(first, second)
}

/** With the burst that each has without a word of its own: a smaller rate has a smaller one. */
function strictestRate(first: Rate, second: Rate): Rate {
  const [one, other] = [first, second].map(rateLimit => withLaneDefaults({ rateLimit }).rateLimit!)
  return {
    perSecond: Math.min(one!.perSecond, other!.perSecond),
    burst: Math.min(one!.burst, other!.burst),
  }
}

/** Fewer attempts without an answer, and longer waits between probes: a larger share of an outage is a longer wait. */
function strictestCredit(first: laneCredit.CreditPolicy, second: CreditInput): laneCredit.CreditPolicy {
  const fewer = (part: 'perAnswer' | 'most'): laneKind.PerKind<number> => {
    const of = (kind: laneKind.StartKind): number => Math.min(first[part][kind], second[part]?.[kind] ?? Infinity)
    return { first: of('first'), retry: of('retry'), late: of('late') }
  }
  const { probeShare = 0, probeMinMs = 0, probeMaxMs = 0 } = second
  const leastMs = Math.max(first.probeMinMs, probeMinMs)
  return {
    perAnswer: fewer('perAnswer'),
    most: fewer('most'),
    probeShare: Math.max(first.probeShare, probeShare),
    probeMinMs: leastMs,
    // One of the two may have set a longer least wait than the other's longest.
    probeMaxMs: Math.max(first.probeMaxMs, probeMaxMs, leastMs),
  }
}

function strictestBudget(first: Budget, second: Budget): Budget {
  if (first.kind === 'ratio' && second.kind === 'ratio' && first.windowMs === second.windowMs)
    return {
      ...first,
      ratio: Math.min(first.ratio, second.ratio),
      minRetries: Math.min(first.minRetries, second.minRetries),
    }
  if (first.kind === 'rate' && second.kind === 'rate')
    return {
      ...first,
      perSecond: Math.min(first.perSecond, second.perSecond),
      burst: Math.min(first.burst, second.burst),
    }
  return first
}
