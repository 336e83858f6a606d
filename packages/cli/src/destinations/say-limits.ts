import type { DestinationLimits } from '@secondwind/client'
import { sayMs, sayShare } from '@secondwind/lab'
import { sayPerKind } from './say-gates.ts'

/** `20 at once, 50/s, credit first 5 · retry 10`; undefined where none is set. */
export function sayLimits({ concurrency, rateLimit, credit, budget }: DestinationLimits = {}): string | undefined {
  const parts = [
    concurrency === undefined ? undefined : `${concurrency} at once`,
    rateLimit === undefined ? undefined : `${rateLimit.perSecond}/s`,
    credit === undefined ? undefined : sayCredit(credit),
    budget === undefined ? undefined : sayBudget(budget),
  ].filter(part => part !== undefined)
  return parts.length === 0 ? undefined : parts.join(', ')
}

type Part<Name extends keyof DestinationLimits> = NonNullable<DestinationLimits[Name]>

function sayCredit(credit: Part<'credit'>): string | undefined {
  const { most, perAnswer } = credit
  const parts = [
    most === undefined ? '' : `credit ${sayPerKind(most)}`,
    perAnswer === undefined ? '' : `an answer adds ${sayPerKind(perAnswer)}`,
    sayProbeTimes(credit),
  ].filter(part => part !== '')
  return parts.length === 0 ? undefined : parts.join(', ')
}

function sayProbeTimes({ probeShare, probeMinMs, probeMaxMs }: Part<'credit'>): string {
  const parts = [
    probeShare === undefined ? '' : ` after ${sayShare(probeShare)} of the time without credit`,
    probeMinMs === undefined ? '' : ` at least ${sayMs(probeMinMs)} apart`,
    probeMaxMs === undefined ? '' : ` at most ${sayMs(probeMaxMs)} apart`,
  ].filter(part => part !== '')
  return parts.length === 0 ? '' : `probes${parts.join(',')}`
}

function sayBudget(budget: Part<'budget'>): string {
  return budget.kind === 'rate'
    ? `retries ${budget.perSecond}/s`
    : `retries ${sayShare(budget.ratio)} of first attempts, ${budget.minRetries} in ${sayMs(budget.windowMs)} always`
}
