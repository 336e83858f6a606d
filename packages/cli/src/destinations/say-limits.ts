import type { DestinationLimits } from '@secondwind/client'
import { sayMs, sayShare } from '@secondwind/lab'

/** `20 at once, 50/s, breaker at 30 % of at least 5 calls`; undefined where none is set. */
export function sayLimits({ concurrency, rateLimit, breaker, budget }: DestinationLimits = {}): string | undefined {
  const parts = [
    concurrency === undefined ? undefined : `${concurrency} at once`,
    rateLimit === undefined ? undefined : `${rateLimit.perSecond}/s`,
    breaker === undefined ? undefined : sayBreaker(breaker),
    budget === undefined ? undefined : sayBudget(budget),
  ].filter(part => part !== undefined)
  return parts.length === 0 ? undefined : parts.join(', ')
}

type Part<Name extends keyof DestinationLimits> = NonNullable<DestinationLimits[Name]>

function sayBreaker({ failureRate, minCalls, openMs, ...others }: Part<'breaker'>): string {
  const rest = Object.entries(others).map(([field, value]) => `${field} ${JSON.stringify(value)}`)
  const parts = [
    failureRate === undefined ? '' : ` at ${sayShare(failureRate)}`,
    minCalls === undefined ? '' : ` of at least ${minCalls} calls`,
    openMs === undefined ? '' : ` for ${sayMs(openMs)} at first`,
    rest.length === 0 ? '' : ` (${rest.join(', ')})`,
  ]
  return `breaker${parts.join('')}`
}

function sayBudget(budget: Part<'budget'>): string {
  return budget.kind === 'rate'
    ? `retries ${budget.perSecond}/s`
    : `retries ${sayShare(budget.ratio)} of first attempts, ${budget.minRetries} in ${sayMs(budget.windowMs)} always`
}
