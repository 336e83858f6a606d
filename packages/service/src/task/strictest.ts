/** What two who may both set limits come to together: neither gets more than the other allows. */
import { withLaneDefaults, type LaneInput } from '@secondwind/resilience/rules'
import type { DestinationLimits } from './destination-settings.ts'

type Breaker = NonNullable<DestinationLimits['breaker']>
type Budget = NonNullable<DestinationLimits['budget']>
type Rate = NonNullable<DestinationLimits['rateLimit']>

/**
 * Where numbers cannot be compared, as of windows and of budgets of two kinds, `first` has the word. So it has where it says
 * nothing within a part that it has set: what every lane has was meant, and not what `second` might make of it.
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
  const breaker = both(first.breaker, second.breaker, (one, other) =>
    strictestBreaker(withLaneDefaults({ breaker: { ...usual.breaker, ...one } }).breaker, other),
  )
  const budget = both(first.budget, second.budget, strictestBudget)
  return {
    ...(concurrency !== undefined && { concurrency }),
    ...(rateLimit !== undefined && { rateLimit }),
    ...(breaker !== undefined && { breaker }),
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

/** Of the others, a window and its least calls, no two can be compared: half of one and half of another may never open. */
const STRICTER = {
  failureRate: Math.min,
  consecutiveFailures: Math.min,
  slowCallMs: Math.min,
  slowCallRate: Math.min,
  openMs: Math.max,
  openMultiplier: Math.max,
  maxOpenMs: Math.max,
} as const satisfies { readonly [field in keyof Breaker]?: (one: number, other: number) => number }

function strictestBreaker(first: Breaker, second: Breaker): Breaker {
  const compared = Object.entries(STRICTER).flatMap(([name, stricter]) => {
    const field = name as keyof typeof STRICTER
    const value = both(first[field], second[field], stricter)
    return value === undefined ? [] : [[field, value]]
  })
  const breaker: Breaker = { ...first, ...Object.fromEntries(compared) }
  const { openMs = 0, maxOpenMs = Infinity } = breaker
  return openMs > maxOpenMs ? { ...breaker, maxOpenMs: openMs } : breaker
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
