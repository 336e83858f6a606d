// Retrying
export { retry } from './retry/run.ts'
export type { Attempt, CallOptions, RetryOptions, Work } from './retry/options.ts'
export type { Exhausted } from './retry/exhausted.ts'
export { decide, deadlineOf, firstState, inProcessShare, GIVE_UP_REASONS } from './retry/decide.ts'
export type { Decision, GiveUpReason, Moment, RetryState } from './retry/decide.ts'
export { decorrelatedV2, type Curve, type CurveAsk } from './retry/curves.ts'
export { delayMs, delayRange, plainDelayMs, type DelayRange, type DelayState } from './retry/backoff.ts'
export { historyOf, describeHistory, type FailedAttempt, type History } from './retry/history.ts'
export { parseHttpDate, retryAfterOf, type HeaderSource } from './retry/retry-after.ts'
export { askedWaitOf } from './retry/rate-limit-headers.ts'

// Policies
export { checkPolicy, type PipelinePolicy, type PipelinePolicyInput, type PolicyCheck } from './pipeline/policy.ts'
export { amplification, explainPolicy, tierAmplification } from './retry/explain.ts'
export type { Explanation, ExplainOptions, TierAmplification } from './retry/explain.ts'
export { presets, type Presets } from './presets/presets.ts'
export { DEFAULT_POLICY } from './retry/policy.ts'
export type { BackoffType, InProcessShare, JitterType, RetryPolicy, RetryPolicyInput } from './retry/policy.ts'
export type { Problem } from './check/problems.ts'
export { fromEnvoy, fromGrpcServiceConfig, fromIstio, toEnvoy, toGrpcServiceConfig, toIstio } from './exchange/index.ts'
export type * from './exchange/index.ts'

// What a failure means
export { ignored, permanent, retryAfter, transient } from './classify/marks.ts'
export { classifyError } from './classify/classify-error.ts'
export { classifyStatus } from './classify/status.ts'
export type { Failure, Fault, Outcome, Success } from './classify/outcome.ts'

// Budgets
export { createBudget, type BudgetOptions } from './budget/run.ts'
export type { Budget } from './budget/budget.ts'
export { BUDGET_RULES, partOf, type BudgetRule } from './budget/decide.ts'
export { checkBudget, DEFAULT_BUDGET } from './budget/policy.ts'
export type {
  BudgetPolicy,
  ConcurrentBudget,
  QuotaBudget,
  RateBudget,
  RatioBudget,
  TokenBudget,
} from './budget/policy.ts'

// Breakers
export { createBreaker, type Breaker, type BreakerOptions } from './breaker/run.ts'
export { closedBreaker, force, mayStart, phaseOf, record } from './breaker/decide.ts'
export type { BreakerAnswer, BreakerPhaseName, BreakerState, Permit } from './breaker/decide.ts'
export { checkBreaker, DEFAULT_BREAKER, type BreakerInput, type BreakerPolicy } from './breaker/policy.ts'
export type { BreakerSnapshot } from './breaker/snapshot.ts'
export type { CallResult } from './breaker/memory.ts'

// One operation after another, by name
export { RetryEngine, RetryEngineError } from './engine/engine.ts'
export type { Action, OperationStatus, RetryEngineOptions } from './engine/engine.ts'

// What goes along with operations
export type { Accompanied, Companion, End, EndedAttempt, Gate, Wait } from './retry/companion.ts'

// What is refused
export type { Refusal } from './errors.ts'
export { AttemptTimeoutError, DeadlineError, InvalidPolicyError, RefusedError, ResilienceError } from './errors.ts'

// What is seen, and the outside world
export { observe } from './retry/report.ts'
export type { RetryEvent, Telemetry, WarningCode } from './ports/telemetry.ts'
export type { Alarm, Clock } from './ports/clock.ts'
export { systemClock } from './ports/system-clock.ts'
export type { Random } from './ports/random.ts'
