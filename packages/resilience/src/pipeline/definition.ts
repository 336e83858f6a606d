import type { Budget } from '../budget/budget.ts'
import type { BudgetPolicy } from '../budget/policy.ts'
import { checkFields, isRecord, wholeNumber, type FieldCheck, type Problem } from '../check/problems.ts'
import { InvalidPolicyError } from '../errors.ts'
import { Replicas, type AnyReplica } from '../replicas/run.ts'
import type { Gate } from '../retry/companion.ts'
import type { CallOptions, RetryOptions } from '../retry/options.ts'
import { checkAdaptiveTimeout, withAdaptiveTimeoutDefaults } from '../timeout/policy.ts'
import type { AdaptiveTimeoutInput, AdaptiveTimeoutPolicy } from '../timeout/policy.ts'
import { DEFAULT_CACHE, type CacheOptions } from './cache.ts'
import type { Failed } from './fallback.ts'
import { checkPolicy, type PipelinePolicy, type PipelinePolicyInput } from './policy.ts'
import type { RefreshOptions } from './refresh.ts'

/** A pipeline as it is written: its document, and what only code can say. `F` is what the fallback answers. */
export interface PipelineDefinition<F = never, A = never, R = undefined>
  extends Omit<PipelinePolicyInput, 'budget'>, Surroundings<A> {
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

const aFunction: FieldCheck = value => (typeof value === 'function' ? undefined : 'a function')
const anObject: FieldCheck = value => (isRecord(value) ? undefined : 'an object')

const CODE: { readonly [field: string]: FieldCheck } = {
  fallback: aFunction,
  cache: value =>
    isRecord(value) && Object.keys(value).every(field => field in DEFAULT_CACHE || field === 'store')
      ? undefined
      : 'an object with ttlMs, staleMs, maxEntries or store',
  refresh: value => (typeof value === 'function' || isRecord(value) ? undefined : 'a function, or an object with run'),
  adaptiveTimeout: () => undefined,
  replicas: value =>
    Array.isArray(value) || value instanceof Replicas ? undefined : 'a list, or what replicas() or failOver() returned',
  gates: value => (Array.isArray(value) ? undefined : 'a list of gates'),
  idempotent: value => (typeof value === 'boolean' ? undefined : 'true or false'),
  maxKeys: wholeNumber(1, 1e6),
  classify: aFunction,
  classifyResult: aFunction,
  discard: aFunction,
  curve: aFunction,
  lastAttempt: value => (value === 'always' || value === 'if-it-fits' ? undefined : 'always or if-it-fits'),
  onExhausted: aFunction,
  telemetry: aFunction,
  ports: anObject,
}

/** Throws with every problem at once, those of the document and those of the code. */
export function checkDefinition<F, A, R>(definition: PipelineDefinition<F, A, R>): CheckedDefinition<F, A, R> {
  const given: { readonly [field: string]: unknown } = isRecord(definition) ? definition : {}
  const document: { [field: string]: unknown } = {}
  const code: { [field: string]: unknown } = {}
  for (const [field, value] of Object.entries(given)) (Object.hasOwn(CODE, field) ? code : document)[field] = value
  const sharedBudget = isBudget(document['budget']) ? document['budget'] : undefined
  if (sharedBudget !== undefined) delete document['budget']
  // Also without a name it is a pipeline, and is told that it needs one.
  const checked = checkPolicy({ name: undefined, ...document } as unknown as PipelinePolicyInput)
  const problems = [...(checked.problems ?? []), ...checkFields(code, CODE), ...checkTogether(given)]
  if (checked.policy === undefined || problems.length > 0) throw new InvalidPolicyError(problems)
  const { adaptiveTimeout, maxKeys = DEFAULT_MAX_KEYS } = definition
  return {
    policy: checked.policy,
    sharedBudget,
    adaptiveTimeout: adaptiveTimeout && withAdaptiveTimeoutDefaults(adaptiveTimeout),
    maxKeys,
    code: code,
  }
}

/** What makes no sense together, though each of it does. */
function checkTogether({ hedge, idempotent, adaptiveTimeout }: { readonly [field: string]: unknown }): Problem[] {
  const problems = adaptiveTimeout === undefined ? [] : checkAdaptiveTimeout(adaptiveTimeout, 'adaptiveTimeout')
  if (hedge !== undefined && idempotent === false)
    problems.push({ at: 'hedge', is: hedge, say: 'makes calls twice at once, which idempotent: false forbids' })
  return problems
}

function isBudget(budget: unknown): budget is Budget {
  return typeof (budget as { readonly deposit?: unknown } | undefined)?.deposit === 'function'
}
