import { Breaker } from '../breaker/run.ts'
import { RuledBudget, type Budget } from '../budget/budget.ts'
import { createBudget } from '../budget/run.ts'
import type { BudgetPolicy } from '../budget/policy.ts'
import { Bulkhead } from '../bulkhead/run.ts'
import type { Failure } from '../classify/outcome.ts'
import { Hedge } from '../hedge/run.ts'
import { killSwitch } from '../kill-switch/run.ts'
import { expectedCallMs, noLatencies, type Latencies } from '../latency/decide.ts'
import { Limiter } from '../limiter/run.ts'
import type { Clock } from '../ports/clock.ts'
import { systemClock } from '../ports/system-clock.ts'
import { RateLimit } from '../rate-limit/run.ts'
import type { AnyReplica, Replicas } from '../replicas/run.ts'
import type { Accompanied, Companion, Gate } from '../retry/companion.ts'
import { compilePolicy } from '../retry/compile.ts'
import { judge } from '../retry/judge.ts'
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
    const old = before && before.#shared.definition.policy
    this.#shared = shared
    this.budget =
      sharedBudget ?? (policy.budget === false ? undefined : budgetFor(policy.budget, clock, before?.budget))
    this.breaker =
      breaker &&
      kept(before?.breaker, breaker, old?.breaker, () => {
        const made = new Breaker(breaker, { ...options, ...(code.telemetry && { telemetry: code.telemetry }) })
        if (before?.breaker !== undefined) made.restore(before.breaker.snapshot())
        return made
      })
    this.bulkhead = bulkhead && kept(before?.bulkhead, bulkhead, old?.bulkhead, () => new Bulkhead(bulkhead, options))
    this.throttle = throttle && kept(before?.throttle, throttle, old?.throttle, () => new Throttle(throttle, options))
    this.limiter = limiter && kept(before?.limiter, limiter, old?.limiter, () => new Limiter(limiter, options))
    this.rateLimit =
      rateLimit && kept(before?.rateLimit, rateLimit, old?.rateLimit, () => new RateLimit(rateLimit, options))
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
      ...given({ classify, classifyResult, discard, curve, lastAttempt, onExhausted, telemetry }),
      ports: { ...ports, clock },
    }
    return new Setup(compilePolicy(policy.retry), options)
  }

  #hedge(): Hedge | undefined {
    const { name, hedge } = this.#shared.definition.policy
    return (
      hedge &&
      new Hedge(hedge, {
        latencies: this.latencies,
        budget: this.budget,
        gates: present(this.bulkhead, this.throttle, this.limiter, this.rateLimit),
        judge: (returned, what) => this.#judge(returned, what),
        isOff: ({ setup }) => killSwitch.levelOf(name, setup.options.key) !== undefined,
      })
    )
  }

  #judge(returned: boolean, what: unknown): Failure | undefined {
    if (!returned) return judge(what, this.setup)
    const outcome = this.#shared.definition.code.classifyResult?.(what)
    return outcome?.kind === 'failure' ? outcome : undefined
  }
}

/** The part as it was if its document is; else a new one. */
function kept<Part, Policy>(part: Part | undefined, policy: Policy, old: Policy | undefined, make: () => Part): Part {
  return part !== undefined && JSON.stringify(policy) === JSON.stringify(old) ? part : make()
}

function budgetFor(policy: BudgetPolicy | undefined, clock: Clock, before: Budget | undefined): Budget {
  const carried = policy !== undefined && before instanceof RuledBudget ? before.under(policy) : undefined
  return carried ?? createBudget(policy, { clock })
}

function present(...gates: readonly (Gate | undefined)[]): Gate[] {
  return gates.filter(gate => gate !== undefined)
}

/** Without the fields that are undefined: an option that is there counts. */
function given<Options extends object>(options: Options): { [Field in keyof Options]: NonNullable<Options[Field]> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [Field in keyof Options]: NonNullable<Options[Field]>
  }
}
