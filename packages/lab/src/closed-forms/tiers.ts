import { tierAmplification } from '@secondwind/resilience'

export interface ChainTier {
  readonly name: string
  /** Attempts that it makes at what it calls. */
  readonly maxAttempts: number
}

/** What a tier makes of one operation at the first one. */
export interface TierLoad extends ChainTier {
  readonly callsPerOperation: number
  /** Every call fails. */
  readonly worstCase: number
}

/** The calls of every tier of a chain: only those of the last one fail, or each tier's own with the same probability. */
export function tierLoads(
  chain: readonly ChainTier[],
  { failureRate, isIndependent = false }: { failureRate: number; isIndependent?: boolean },
): TierLoad[] {
  const attempts = chain.map(({ maxAttempts }) => maxAttempts)
  return chain.map((tier, index) => {
    const above = attempts.slice(0, index + 1)
    const { worstCase, whenEachFails } = tierAmplification(above, failureRate)
    if (isIndependent) return { ...tier, callsPerOperation: whenEachFails, worstCase }
    // A call of this tier fails when all attempts of those below it have.
    const below = tierAmplification(attempts.slice(index + 1), failureRate).worstCase
    return { ...tier, callsPerOperation: tierAmplification(above, failureRate ** below).whenLastFails, worstCase }
  })
}
