import { wholeNumber, withoutUndefined, type Fields, type Problem } from '../check/problems.ts'

/** Of which successes a percentile is taken: the part that every policy with a percentile has in common. */
export interface SamplePolicy {
  /** The recent successes: so many of the latest. */
  readonly sampleCalls: number
  /** With fewer of them known there is no percentile to speak of. */
  readonly minSamples: number
}

export function withSampleDefaults<Policy extends SamplePolicy>(defaults: Policy, input: Partial<Policy>): Policy {
  const policy = { ...defaults, ...withoutUndefined(input) }
  // Whoever keeps fewer than are waited for wants the percentile of those.
  const { minSamples = Math.min(policy.minSamples, policy.sampleCalls) } = input
  return { ...policy, minSamples }
}

export function checkSamples({ minSamples, sampleCalls }: SamplePolicy, at: string): Problem[] {
  if (minSamples <= sampleCalls) return []
  return [{ at: `${at}minSamples`, is: minSamples, say: `is never reached: sampleCalls is ${sampleCalls}` }]
}

export function sampleFields(): Fields {
  return { sampleCalls: wholeNumber(1, 100_000), minSamples: wholeNumber(1, 100_000) }
}
