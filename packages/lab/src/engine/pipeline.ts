import {
  BUDGET_RULES,
  checkPolicy,
  DEFAULT_BUDGET,
  inProcessShare,
  partOf,
  type AdaptiveTimeoutPolicy,
  type BudgetPolicy,
  type BudgetRule,
  type PipelinePolicy,
  type RetryPolicy,
} from '@secondwind/resilience'
import { hedge as hedgeRules } from '@secondwind/resilience/rules'
import type { PolicyDocument } from '../scenario/scenario.ts'

/** A document, ready to be followed: what all processes that follow it have in common. */
export interface Pipeline {
  readonly name: string
  readonly retry: RetryPolicy
  readonly budget: Counted | undefined
  readonly hedge: PipelinePolicy['hedge']
  /** The hedge's own limit of load. */
  readonly load: Counted | undefined
  readonly breaker: PipelinePolicy['breaker']
  readonly bulkhead: PipelinePolicy['bulkhead']
  readonly rateLimit: PipelinePolicy['rateLimit']
  readonly limiter: PipelinePolicy['limiter']
  readonly throttle: PipelinePolicy['throttle']
  readonly adaptiveTimeout: AdaptiveTimeoutPolicy | undefined
  /** A pipeline learns how long calls take; a bare `retry` does not. */
  readonly learnsLatency: boolean
  /** Somebody is asked before an attempt, besides the budget. */
  readonly isGated: boolean
}

/** The document of a budget, and the rule by which retries are counted under it. */
export interface Counted {
  readonly policy: BudgetPolicy
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly rule: BudgetRule<any, any>
}

export interface PipelineOptions {
  readonly name: string
  readonly adaptiveTimeout?: AdaptiveTimeoutPolicy | undefined
  /** Another way to count retries, in place of the document's: what somebody else has published, for comparison. */
  readonly budget?: Counted | undefined
}

/** Follows a checked document; one that was not checked is refused with an assertion. */
export function compilePipeline(document: PolicyDocument, options: PipelineOptions): Pipeline {
  const { policy } = checkPolicy(document as unknown)
  if (policy === undefined) throw new TypeError(`the policy ${options.name} was not checked`)
  const whole: PipelinePolicy =
    'retry' in policy ? policy : { name: options.name, retry: policy, budget: DEFAULT_BUDGET }
  const { hedge, breaker, bulkhead, rateLimit, limiter, throttle, budget } = whole
  const { adaptiveTimeout } = options
  return {
    name: options.name,
    retry: inProcessShare(whole.retry),
    budget: options.budget ?? (budget === false ? undefined : counted(partOf(budget ?? DEFAULT_BUDGET))),
    hedge,
    load: hedge && counted(hedgeRules.hedgeBudget(hedge)),
    breaker,
    bulkhead,
    rateLimit,
    limiter,
    throttle,
    adaptiveTimeout,
    learnsLatency: whole === policy || adaptiveTimeout !== undefined,
    isGated: [breaker, bulkhead, rateLimit, limiter, throttle].some(part => part !== undefined),
  }
}

/** One call, for as long as it takes. */
export function bareCall(name: string): Pipeline {
  const once = compilePipeline({ maxAttempts: 1 }, { name })
  return { ...once, retry: { ...once.retry, attemptTimeoutMs: Infinity, totalBudgetMs: Infinity }, budget: undefined }
}

function counted(policy: BudgetPolicy): Counted {
  return { policy, rule: BUDGET_RULES[policy.kind] }
}
