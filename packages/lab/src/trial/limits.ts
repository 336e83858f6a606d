import { sayMs, sayShare, sayTimes } from '../plots/format.ts'
import type { Estimate } from './over-seeds.ts'
import { estimate, sayMissing } from './over-seeds.ts'
import type { Measure, Reading } from './reading.ts'

/** What a policy must keep to; what is absent may be anything. */
export interface Limits {
  readonly maxAmplification?: number
  /** As a multiple of what it would be if nobody called twice. */
  readonly maxPeakTimes?: number
  readonly minServedShare?: number
  readonly maxRecoveryMs?: number
  readonly maxP99Ms?: number
}

export interface LimitCheck {
  readonly name: string
  readonly limitName: keyof Limits
  readonly measure: Measure
  readonly holds: boolean
  /** The mean over all seeds; absent: a run has none, for it never recovered, or served nothing. */
  readonly is?: Estimate
  readonly limit: number
  readonly say: string
}

interface Rule {
  readonly measure: Measure
  readonly name: string
  readonly isLeast?: true
  readonly show: (value: number) => string
}

const RULES: { readonly [limit in keyof Limits]-?: Rule } = {
  maxAmplification: { measure: 'amplification', name: 'amplification', show: sayTimes },
  maxPeakTimes: { measure: 'peakTimes', name: 'peak', show: sayTimes },
  minServedShare: { measure: 'servedShare', name: 'served', isLeast: true, show: sayShare },
  maxRecoveryMs: { measure: 'recoveredAfterMs', name: 'recovery', show: sayMs },
  maxP99Ms: { measure: 'p99Ms', name: 'p99', show: sayMs },
}

/**
 * Each limit that was set, held against the mean over all seeds. What cannot be measured does not hold: a recovery where
 * there is no trouble to get over should be refused before anything is run.
 */
export function checkLimits(readings: readonly Reading[], limits: Limits): LimitCheck[] {
  return (Object.entries(limits) as [keyof Limits, number][]).map(([limitName, limit]) => {
    const { measure, name, isLeast, show } = RULES[limitName]
    const is = estimate(readings, measure)
    const holds = is !== undefined && (isLeast ? is.mean >= limit : is.mean <= limit)
    const word = isLeast ? 'at least' : 'at most'
    const say = is === undefined ? `missing: ${sayMissing(readings, measure)}` : show(is.mean)
    return {
      name,
      limitName,
      measure,
      holds,
      ...(is && { is }),
      limit,
      say: `${say}, asked for ${word} ${show(limit)}`,
    }
  })
}
