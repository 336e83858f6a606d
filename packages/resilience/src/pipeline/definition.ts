import type { Budget } from '../budget/budget.ts'
import type { BudgetPolicy } from '../budget/policy.ts'
import {
  aFunction,
  anObject,
  checkFields,
  flag,
  isRecord,
  milliseconds,
  oneOf,
  wholeNumber,
  type FieldCheck,
  type Problem,
} from '../check/problems.ts'
import { InvalidPolicyError } from '../errors.ts'
import { Replicas, type AnyReplica } from '../replicas/run.ts'
import type { Gate } from '../retry/companion.ts'
import type { CallOptions, RetryOptions } from '../retry/options.ts'
import type { RetryPolicyInput } from '../retry/policy.ts'
import { checkAdaptiveTimeout, withAdaptiveTimeoutDefaults } from '../timeout/policy.ts'
import type { AdaptiveTimeoutInput, AdaptiveTimeoutPolicy } from '../timeout/policy.ts'
import type { CacheOptions } from './cache.ts'
import type { Failed } from './fallback.ts'
import { checkPolicy, type PipelinePolicy, type PipelinePolicyInput } from './policy.ts'
import type { RefreshOptions } from './refresh.ts'

/** A pipeline as it is written: its document, and what only code can say. `F` is what the fallback answers. */
export interface PipelineDefinition<F = never, A = never, R = undefined>
  extends Omit<PipelinePolicyInput, 'budget' | 'retry'>, Surroundings<A> {
  /** What differs from the defaults of a policy. */
  readonly retry?: RetryPolicyInput
  /** A document: each key has a budget of its own. A budget that was made: all keys share it, with whoever else has it. */
  readonly budget?: BudgetPolicy | Budget | false
  /** Answers in place of an operation that failed, unless its caller went away. */
  readonly fallback?: (failed: Failed) => F | PromiseLike<F>
  /** Answers before anything is called, for runs that name a `cacheKey`. */
  readonly cache?: CacheOptions
  /** Renews what a call was refused for (401), once per operation and together for all. */
  readonly refresh?: RefreshOptions | (() => unknown)
  /** Attempts that take twice as long as nearly all others are given up: `true`, or what differs from its defaults. */
  readonly adaptiveTimeout?: AdaptiveTimeoutInput
  /** The same dependency at several addresses: each attempt, and each copy of one, is given a replica of its own. */
  readonly replicas?: Replicas<R & AnyReplica> | readonly (R & AnyReplica)[]
  /** What else stands around every call: a tracer of one's own. */
  readonly gates?: readonly Gate[]
  /** Your word for all calls that they may be made twice at once, which hedging needs. */
  readonly idempotent?: boolean
  /** Keys with a state of their own; the one that was not used for longest makes room. 1,000 unless told. */
  readonly maxKeys?: number
}

/** What an operation of a pipeline takes from `retry`. */
type Surroundings<A> = Pick<
  RetryOptions<never, A>,
  'classify' | 'curve' | 'lastAttempt' | 'onExhausted' | 'telemetry' | 'ports'
> & {
  readonly classifyResult?: RetryOptions['classifyResult']
  readonly discard?: RetryOptions['discard']
}

/** What one run has of its own. */
export interface RunOptions extends Omit<CallOptions, 'expectedCallMs'> {
  /** What the pipeline's cache knows the result by; without it the cache is not asked. */
  readonly cacheKey?: string | undefined
}

/** The definition, checked: its document with all defaults, its code as it is. */
export interface CheckedDefinition<F, A, R> {
  readonly policy: PipelinePolicy
  readonly sharedBudget: Budget | undefined
  readonly adaptiveTimeout: AdaptiveTimeoutPolicy | undefined
  readonly maxKeys: number
  readonly code: Omit<PipelineDefinition<F, A, R>, keyof PipelinePolicyInput>
}

/** More than the hosts a client talks to; few enough to be kept. */
const DEFAULT_MAX_KEYS = 1_000

/** What only code can say. Those that have fields of their own are looked at further below. */
const CODE: { readonly [field: string]: FieldCheck } = {
  fallback: aFunction,
  cache: anObject,
  refresh: value => (!aFunction(value) || hasMethod(value, 'run') ? undefined : 'a function, or an object with run'),
  adaptiveTimeout: () => undefined,
  replicas: value =>
    Array.isArray(value) || value instanceof Replicas ? undefined : 'a list, or what replicas() or failOver() returned',
  gates: value =>
    Array.isArray(value) && value.every(gate => hasMethod(gate, 'accompany')) ? undefined : 'a list of gates',
  idempotent: flag,
  maxKeys: wholeNumber(1, 1e6),
  classify: aFunction,
  classifyResult: aFunction,
  discard: aFunction,
  curve: aFunction,
  lastAttempt: oneOf('if-it-fits', 'always'),
  onExhausted: aFunction,
  telemetry: aFunction,
  ports: anObject,
}

export function isCode(field: string): boolean {
  return Object.hasOwn(CODE, field)
}

/** Throws with every problem at once, those of the document and those of the code. */
export function checkDefinition<F, A, R>(definition: PipelineDefinition<F, A, R>): CheckedDefinition<F, A, R> {
  if (!isRecord(definition))
    throw new InvalidPolicyError([
      { at: '', is: definition, say: 'must be an object with name, retry and other parts' },
    ])
  const given: { readonly [field: string]: unknown } = definition
  const fields = Object.entries(given)
  const code: { [field: string]: unknown } = Object.fromEntries(fields.filter(([field]) => isCode(field)))
  const document: { [field: string]: unknown } = Object.fromEntries(fields.filter(([field]) => !isCode(field)))
  const { budget } = given
  const sharedBudget = isBudget(budget) ? budget : undefined
  if (sharedBudget) delete document['budget']
  // Also without a name it is a pipeline, and is told that it needs one.
  const checked = checkPolicy({ name: undefined, retry: {}, ...document } as unknown as PipelinePolicyInput)
  const problems = [...(checked.problems ?? []), ...checkFields(code, CODE), ...checkTogether(given)]
  if (checked.policy === undefined || problems.length > 0) throw new InvalidPolicyError(problems)
  const { adaptiveTimeout, maxKeys = DEFAULT_MAX_KEYS } = definition
  return {
    policy: checked.policy,
    sharedBudget,
    adaptiveTimeout: adaptiveTimeout && withAdaptiveTimeoutDefaults(adaptiveTimeout),
    maxKeys,
    code,
  }
}

/** What makes no sense together, though each of it does. */
function checkTogether(given: { readonly [field: string]: unknown }): Problem[] {
  const { hedge, idempotent, adaptiveTimeout, cache } = given
  const problems = adaptiveTimeout === undefined ? [] : checkAdaptiveTimeout(adaptiveTimeout, 'adaptiveTimeout')
  if (isRecord(cache)) problems.push(...checkFields(cache, CACHE, { ttl: 'ttlMs', max: 'maxEntries' }, 'cache.'))
  if (hedge !== undefined && idempotent === false)
    problems.push({ at: 'hedge', is: hedge, say: 'makes calls twice at once, which idempotent: false forbids' })
  return problems
}

const CACHE: { readonly [field: string]: FieldCheck } = {
  ttlMs: milliseconds(1),
  staleMs: milliseconds(),
  maxEntries: wholeNumber(1, 1e7),
  store: value => (hasMethod(value, 'get') && hasMethod(value, 'set') ? undefined : 'an object with get and set'),
}

const RUN_OPTIONS: { readonly [option in keyof Required<RunOptions>]: true } = {
  name: true,
  signal: true,
  idempotencyKey: true,
  idempotent: true,
  once: true,
  nested: true,
  deadlineAt: true,
  cacheKey: true,
}

/** What a run was given and cannot use, as a sentence; undefined when all is well. */
export function wrongRun(call: unknown, options: unknown, hasCache: boolean): string | undefined {
  if (typeof call !== 'function') return `run calls a function, and was given ${String(call)}`
  if (options === undefined) return undefined
  if (typeof options !== 'object' || options === null || 'aborted' in options)
    return `run takes an object of options, for example { signal }, and was given ${String(options)}`
  for (const option in options)
    if (!Object.hasOwn(RUN_OPTIONS, option))
      return `run has no option ${option}; it has ${Object.keys(RUN_OPTIONS).join(', ')}. What all runs share belongs in pipeline(…)`
  const { signal, cacheKey } = options as RunOptions
  if (signal && !hasMethod(signal, 'addEventListener'))
    return 'the option signal must be an AbortSignal, not its controller'
  return cacheKey !== undefined && !hasCache ? 'the option cacheKey needs a pipeline with a cache' : undefined
}

function isBudget(budget: unknown): budget is Budget {
  return hasMethod(budget, 'deposit')
}

function hasMethod(value: unknown, method: string): boolean {
  return typeof (value as { readonly [name: string]: unknown } | null | undefined)?.[method] === 'function'
}
