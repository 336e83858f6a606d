// Retrying
export { retry } from './retry/run.ts'
export type { Attempt, CallOptions, RetryOptions, Work } from './retry/options.ts'
export type { Exhausted } from './retry/exhausted.ts'
export { decide, deadlineOf, firstState, inProcessShare, GIVE_UP_REASONS } from './retry/decide.ts'
export type { Decision, GiveUpReason, Moment, RetryState } from './retry/decide.ts'
export { decorrelatedV2, type Curve, type CurveAsk } from './retry/curves.ts'
export { delayMs, delayRange, plainDelayMs, type DelayRange, type DelayState } from './retry/backoff.ts'
export { historyOf, describeHistory, rememberHistory, type FailedAttempt, type History } from './retry/history.ts'
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

// Deadlines
export { deadline, deadlineFrom, type ArrivalOptions, type Deadline, type DeadlineInput } from './deadline/deadline.ts'
export { askedTimeoutMs, grpcTimeoutHeader, timeoutHeader } from './deadline/decide.ts'

// Pipelines
export { pipeline, type Pipeline, type PipelineCall, type PipelineChange, type Runner } from './pipeline/run.ts'
export type { PipelineDefinition, RunOptions } from './pipeline/definition.ts'
export type { CacheEntry, CacheOptions, CacheStore } from './pipeline/cache.ts'
export type { Failed } from './pipeline/fallback.ts'
export type { KeySnapshot, PipelineSnapshot } from './pipeline/snapshot.ts'
export type { Layer, PipelineExplanation } from './pipeline/explain.ts'
export type { RefreshOptions } from './pipeline/refresh.ts'
export type { AdaptiveTimeoutInput, AdaptiveTimeoutPolicy } from './timeout/policy.ts'

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
export { closedBreaker, force, mayStart, phaseOf, record, resultOf } from './breaker/decide.ts'
export type { BreakerAnswer, BreakerPhaseName, BreakerState, Permit } from './breaker/decide.ts'
export { checkBreaker, DEFAULT_BREAKER, type BreakerInput, type BreakerPolicy } from './breaker/policy.ts'
export type { BreakerSnapshot } from './breaker/snapshot.ts'
export type { CallResult } from './breaker/memory.ts'

// Limits, and a switch for emergencies
export type { GateOptions } from './gate-options.ts'
export { createBulkhead, type Bulkhead } from './bulkhead/run.ts'
export { checkBulkhead, DEFAULT_BULKHEAD, type BulkheadInput, type BulkheadPolicy } from './bulkhead/policy.ts'
export { createRateLimit, type RateLimit } from './rate-limit/run.ts'
export { checkRateLimit, DEFAULT_RATE_LIMIT } from './rate-limit/policy.ts'
export type { RateLimitInput, RateLimitPolicy } from './rate-limit/policy.ts'
export { createLimiter, type Limiter } from './limiter/run.ts'
export { checkLimiter, DEFAULT_LIMITERS, type LimiterInput, type LimiterPolicy } from './limiter/policy.ts'
export { createThrottle, type Throttle } from './throttle/run.ts'
export { checkThrottle, DEFAULT_THROTTLE, type ThrottleInput, type ThrottlePolicy } from './throttle/policy.ts'
export { createKillSwitch, killSwitch, type KillSwitch, type KillSwitchOptions } from './kill-switch/run.ts'
export { KILL_LEVELS } from './kill-switch/policy.ts'
export type { KillLevel, KillOrder, KillOrderInput, KillScope } from './kill-switch/policy.ts'

// One operation after another, by name
export { RetryEngine, RetryEngineError } from './engine/engine.ts'
export type { Action, OperationStatus, RetryEngineOptions } from './engine/engine.ts'

// Work that is more than one call
export { retryTransaction } from './database/retry-transaction.ts'
export type { Begin, TransactionHandle, TransactionOf, TransactionOptions } from './database/retry-transaction.ts'
export { classifyDatabaseError } from './database/classify.ts'
export { waitFor, type Subscribe, type Unsubscribe, type WaitOptions } from './database/wait-for.ts'
export { DEFAULT_WAIT } from './database/policy.ts'
export { fanOut, type FanOutOptions, type Leaves } from './fan-out/fan-out.ts'
export { batch, type BatchOptions, type SendItems } from './fan-out/batch.ts'
export { DEFAULT_BATCH, DEFAULT_FAN_OUT, LEAF_BUDGET, type BatchPolicy, type FanOutPolicy } from './fan-out/policy.ts'
export { failOver, replicas, type AnyReplica, type FailOver, type Replicas } from './replicas/run.ts'
export type { ReplicasOptions } from './replicas/run.ts'

// What goes along with operations
export type { Accompanied, Companion, End, EndedAttempt, Gate, Wait } from './retry/companion.ts'

// What is refused
export type { Refusal } from './errors.ts'
export {
  AttemptTimeoutError,
  DeadlineError,
  InvalidAnswerError,
  InvalidPolicyError,
  RefusedError,
  ResilienceError,
} from './errors.ts'

// What is seen, and the outside world
export { observe } from './retry/report.ts'
export type { RetryEvent, Telemetry, WarningCode } from './ports/telemetry.ts'
export { NOT_ARMED, type Alarm, type Clock } from './ports/clock.ts'
export { systemClock } from './ports/system-clock.ts'
export { nextTurn } from './ports/turn.ts'
export { newIdempotencyKey, systemRandom, type Random } from './ports/random.ts'
