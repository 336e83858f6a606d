/** Envoy's retries (v3), written. */
import type { BudgetPolicy } from '../budget/policy.ts'
import { tidy, writeSeconds, type Exported, type Loss } from './document.ts'
import { completePolicy, lostBudgetFields, lostParts, type AnyPolicyInput } from './losses.ts'
import { BY_STATUS, CONNECTION_WORDS, writeProxyWaits } from './proxy.ts'

/** What belongs to the route, and what to the cluster that it leads to. */
export interface EnvoyConfig {
  readonly route: { readonly timeout: string; readonly retry_policy: EnvoyRetryPolicy }
  readonly cluster?: { readonly circuit_breakers: { readonly thresholds: readonly [EnvoyThresholds] } }
}

export interface EnvoyRetryPolicy {
  readonly retry_on: string
  readonly num_retries: number
  readonly per_try_timeout: string
  readonly retry_back_off: { readonly base_interval: string; readonly max_interval: string }
  readonly rate_limited_retry_back_off: EnvoyRateLimitedBackOff
  readonly retriable_status_codes: readonly number[]
}

export interface EnvoyRateLimitedBackOff {
  readonly reset_headers: readonly [{ readonly name: 'Retry-After'; readonly format: 'SECONDS' }]
  readonly max_interval: string
}

export interface EnvoyThresholds {
  readonly retry_budget: {
    readonly budget_percent: { readonly value: number }
    readonly min_retry_concurrency: number
  }
}

export function toEnvoy(input: AnyPolicyInput): Exported<EnvoyConfig> {
  const { policy, problems } = completePolicy(input)
  if (policy === undefined) return { problems }
  const { retry, budget } = policy
  const notCarried = lostParts(policy, ['budget'], 'Envoy')
  const { baseMs, maxMs } = writeProxyWaits(notCarried, retry, 'Envoy')
  const thresholds = writeBudget(notCarried, budget)
  const timeout = writeSeconds(retry.totalBudgetMs)
  return {
    config: {
      route: {
        timeout,
        retry_policy: {
          retry_on: [...CONNECTION_WORDS, BY_STATUS].join(','),
          num_retries: retry.maxAttempts - 1,
          per_try_timeout: writeSeconds(retry.attemptTimeoutMs),
          retry_back_off: { base_interval: writeSeconds(baseMs), max_interval: writeSeconds(maxMs) },
          // Without it Envoy comes back before the time that a server named.
          rate_limited_retry_back_off: {
            reset_headers: [{ name: 'Retry-After', format: 'SECONDS' }],
            max_interval: timeout,
          },
          retriable_status_codes: retry.retryableStatusCodes,
        },
      },
      ...(thresholds && { cluster: { circuit_breakers: { thresholds: [thresholds] } } }),
    },
    notCarried,
  }
}

function writeBudget(notCarried: Loss[], budget: BudgetPolicy | false | undefined): EnvoyThresholds | undefined {
  if (budget === undefined) return undefined
  if (!budget || budget.kind !== 'concurrent') {
    const say = 'has no counterpart in Envoy, which knows the kind concurrent only, and three at a time without one'
    notCarried.push({ at: 'budget', is: budget, say })
    return undefined
  }
  notCarried.push(...lostBudgetFields(budget, 'Envoy'))
  const { ratio, minRetries } = budget
  if (ratio > 1) notCarried.push({ at: 'budget.ratio', is: ratio, say: 'is 1 in Envoy, the most that it takes' })
  const value = tidy(Math.min(1, ratio) * 100)
  return { retry_budget: { budget_percent: { value }, min_retry_concurrency: minRetries } }
}
