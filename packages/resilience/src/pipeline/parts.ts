import type { BreakerPolicy } from '../breaker/policy.ts'
import { Breaker, type BreakerOptions } from '../breaker/run.ts'
import { RuledBudget, type Budget } from '../budget/budget.ts'
import { createBudget } from '../budget/run.ts'
import type { BudgetPolicy } from '../budget/policy.ts'
import { Bulkhead } from '../bulkhead/run.ts'
import { withoutUndefined } from '../check/problems.ts'
import type { Failure } from '../classify/outcome.ts'
import { Hedge } from '../hedge/run.ts'
import { expectedCallMs, noLatencies, type Latencies } from '../latency/decide.ts'
import { Limiter } from '../limiter/run.ts'
import type { Clock } from '../ports/clock.ts'
import { systemClock } from '../ports/system-clock.ts'
import { RateLimit } from '../rate-limit/run.ts'
import type { AnyReplica, Replicas } from '../replicas/run.ts'
import type { Accompanied, Companion, Gate } from '../retry/companion.ts'
import { compilePolicy } from '../retry/compile.ts'
import { judge, judgeValue } from '../retry/judge.ts'
import type { RetryOptions } from '../retry/options.ts'
import { Setup } from '../retry/setup.ts'
import { Throttle } from '../throttle/run.ts'
import { DEFAULT_ADAPTIVE_TIMEOUT } from '../timeout/policy.ts'
import { LatencyWatch } from '../timeout/run.ts'
import { PipelineCompanion } from './companion.ts'
import type { CheckedDefinition } from './definition.ts'
import type { Refresher } from './refresh.ts'

/** What all keys of a pipeline share. */
export interface Shared<F, A, R> {
  readonly definition: CheckedDefinition<F, A, R>
  readonly replicas: Replicas<R & AnyReplica> | undefined
  readonly refresher: Refresher | undefined
}

/** What an operation passes, in this order. */
export interface Gates {
  readonly breaker: Breaker | undefined
  readonly bulkhead: Bulkhead | undefined
  readonly throttle: Throttle | undefined
  readonly limiter: Limiter | undefined
  readonly rateLimit: RateLimit | undefined
  readonly watch: LatencyWatch
}

/**
 * One key's own state: everything that counts, limits or remembers. The order of the gates is the order in which an
 * attempt asks them; the budget comes after all of them, with the operation itself.
 */
export class Parts<F, A, R> implements Gate, Gates {
  readonly breaker: Breaker | undefined
  readonly budget: Budget | undefined
  readonly bulkhead: Bulkhead | undefined
  readonly throttle: Throttle | undefined
  readonly limiter: Limiter | undefined
  readonly rateLimit: RateLimit | undefined
  readonly latencies: Latencies
  readonly watch: LatencyWatch
  readonly setup: Setup<unknown, A>
  readonly #shared: Shared<F, A, R>

  /** `before` is the same key under another document: what has not changed goes on, and so do breaker and budget. */
  constructor(key: string, shared: Shared<F, A, R>, before?: Parts<F, A, R>) {
    const { policy, sharedBudget, adaptiveTimeout, code } = shared.definition
    const { breaker, bulkhead, throttle, limiter, rateLimit, hedge } = policy
    const { clock = systemClock, random } = code.ports ?? {}
    const options = { name: key === '' ? policy.name : `${policy.name}/${key}`, clock, ...(random && { random }) }
    this.#shared = shared
    this.budget =
      sharedBudget ?? (policy.budget === false ? undefined : budgetFor(policy.budget, clock, before?.budget))
    this.breaker = breaker && carriedBreaker(before?.breaker, breaker, { ...options, telemetry: code.telemetry })
    this.bulkhead = bulkhead && carried(before?.bulkhead, bulkhead, () => new Bulkhead(bulkhead, options))
    this.throttle = throttle && carried(before?.throttle, throttle, () => new Throttle(throttle, options))
    this.limiter = limiter && carried(before?.limiter, limiter, () => new Limiter(limiter, options))
    this.rateLimit = rateLimit && carried(before?.rateLimit, rateLimit, () => new RateLimit(rateLimit, options))
    const sampled = [adaptiveTimeout, hedge].flatMap(part => part?.sampleCalls ?? [])
    const sampleCalls = Math.max(...(sampled.length > 0 ? sampled : [DEFAULT_ADAPTIVE_TIMEOUT.sampleCalls]))
    this.latencies = before?.latencies ?? noLatencies(sampleCalls)
    const { attemptTimeoutMs } = policy.retry
    this.watch = new LatencyWatch(this.latencies, adaptiveTimeout, { attemptTimeoutMs, isHedged: hedge !== undefined })
    this.setup = this.#setupOf(key, clock)
  }

  accompany(operation: Accompanied): Companion {
    return new PipelineCompanion(this, operation)
  }

  #setupOf(key: string, clock: Clock): Setup<unknown, A> {
    const { policy, adaptiveTimeout, code } = this.#shared.definition
    const { classify, classifyResult, discard, curve, lastAttempt, onExhausted, telemetry, ports, gates = [] } = code
    const options: RetryOptions<unknown, A> = {
      client: policy.name,
      key,
      budget: this.budget ?? false,
      gates: [this, ...present(this.#hedge(), this.#shared.replicas, this.#shared.refresher), ...gates],
      usualCallMs: () => expectedCallMs(this.latencies),
      ...(adaptiveTimeout && { attemptTimeoutMs: () => this.watch.timeoutMs }),
      ...withoutUndefined({ classify, classifyResult, discard, curve, lastAttempt, onExhausted, telemetry }),
      ports: { ...ports, clock },
    }
    return new Setup(compilePolicy(policy.retry), options)
  }

  #hedge(): Hedge | undefined {
    const { policy, code } = this.#shared.definition
    const { hedge } = policy
    return (
      hedge &&
      new Hedge(hedge, {
        latencies: this.latencies,
        budget: this.budget,
        gates: [...present(this.bulkhead, this.throttle, this.limiter, this.rateLimit), ...(code.gates ?? [])],
        judge: (returned, what) => this.#judge(returned, what),
        discard: code.discard,
      })
    )
  }

  #judge(returned: boolean, what: unknown): Failure | undefined {
    if (!returned) return judge(what, this.setup)
    const outcome = judgeValue(what, this.#shared.definition.code.classifyResult)
    return outcome.kind === 'failure' ? outcome : undefined
  }
}

/** The same part under other numbers: what it has counted, and whom it holds, stays counted and held. */
function carried<Policy, Part extends { readonly policy: Policy; under(policy: Policy): Part }>(
  before: Part | undefined,
  policy: Policy,
  make: () => Part,
): Part {
  if (before === undefined) return make()
  return isSame(before.policy, policy) ? before : before.under(policy)
}

function carriedBreaker(before: Breaker | undefined, policy: BreakerPolicy, options: BreakerOptions): Breaker {
  if (before !== undefined && isSame(before.policy, policy)) return before
  const breaker = new Breaker(policy, options)
  if (before !== undefined) breaker.restore(before.snapshot())
  return breaker
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function budgetFor(policy: BudgetPolicy | undefined, clock: Clock, before: Budget | undefined): Budget {
  const carried = policy !== undefined && before instanceof RuledBudget ? before.under(policy) : undefined
  return carried ?? createBudget(policy, { clock })
}

function present(...gates: readonly (Gate | undefined)[]): Gate[] {
  return gates.filter(gate => gate !== undefined)
}
