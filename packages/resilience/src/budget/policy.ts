import {
  checkFields,
  isRecord,
  milliseconds,
  numberBetween,
  oneOf,
  wholeNumber,
  type Fields,
  type Problem,
} from '../check/problems.ts'

/**
 * How many retries there may be, whatever the single policies allow: the one protection that still holds when
 * everything fails at once. Plain JSON; five kinds.
 */
export type BudgetPolicy = RatioBudget | TokenBudget | QuotaBudget | RateBudget | ConcurrentBudget

interface AnyBudget {
  /** When nothing is left: deny retries only (the default), or new calls too. */
  readonly whenEmpty?: 'deny-retries' | 'deny-calls'
  /** The budget is meant for a fleet of so many processes; each one takes its part. */
  readonly replicas?: number
}

/** Retries in proportion to calls, over a sliding window (Finagle, Linkerd, Google SRE). */
export interface RatioBudget extends AnyBudget {
  readonly kind: 'ratio'
  /** Retries per call. */
  readonly ratio: number
  readonly windowMs: number
  /** At least so many retries in any window: a quiet client may still retry. */
  readonly minRetries: number
  /** So many retries on top of the ratio. */
  readonly reserve?: number
  /** Below so many calls in the window the ratio is not judged. */
  readonly minCalls?: number
  /** What the ratio is taken of: whole operations, or every call, retries included. */
  readonly of?: 'operations' | 'attempts'
}

/** Failures take, successes give back; retries stop at half (gRPC A6). */
export interface TokenBudget extends AnyBudget {
  readonly kind: 'tokens'
  readonly maxTokens: number
  /** What a success gives back; digits past the third decimal are ignored. */
  readonly tokenRatio: number
}

/** A purse that retries pay from, and get back when they succeed (AWS SDKs). */
export interface QuotaBudget extends AnyBudget {
  readonly kind: 'quota'
  readonly capacity: number
  readonly retryCost: number
  readonly throttledCost: number
  /** What a first attempt that succeeds pays in. */
  readonly successGain: number
}

/** So many retries a second, with a burst. */
export interface RateBudget extends AnyBudget {
  readonly kind: 'rate'
  readonly perSecond: number
  readonly burst: number
}

/** Retries under way in proportion to calls under way (Envoy). It starves small clients: prefer `ratio`. */
export interface ConcurrentBudget extends AnyBudget {
  readonly kind: 'concurrent'
  readonly ratio: number
  readonly minRetries: number
}

/** One retry for ten calls; a quiet client has a hundred in ten seconds all the same. */
export const DEFAULT_BUDGET: RatioBudget = {
  kind: 'ratio',
  ratio: 0.1, // when everything fails, a tenth more load: no outage was ever made worse by that
  windowMs: 10_000, // long enough to smooth a burst, short enough to forget an outage
  minRetries: 100, // ten a second: a client this small does no harm
}

/** All problems of a budget's document. */
export function checkBudget(input: unknown, path = ''): Problem[] {
  if (!isRecord(input)) return [{ at: path, is: input, say: 'must be an object with kind and its fields' }]
  const at = path && `${path}.`
  const kinds = fieldsByKind()
  const { kind } = input
  const fields =
    typeof kind === 'string' && Object.hasOwn(kinds, kind) ? kinds[kind as BudgetPolicy['kind']] : undefined
  if (fields === undefined) return [{ at: `${at}kind`, is: kind, say: `must be ${oneOf(...Object.keys(kinds))(null)}` }]
  const { capacity, retryCost, whenEmpty, minRetries, reserve } = input
  const unpayable =
    kind === 'quota' && typeof capacity === 'number' && typeof retryCost === 'number' && capacity < retryCost
  // Tokens and quotas are refilled by calls that succeed, and none would be made; without a minimum there is no first.
  const isFinal = whenEmpty === 'deny-calls' && kind !== 'rate' && !(minRetries || reserve)
  const missing = Object.keys(fields.required).filter(field => input[field] === undefined)
  return [
    ...checkFields(input, { kind: oneOf(kind), ...sharedFields(), ...fields.required, ...fields.optional }, {}, at),
    ...missing.map(field => ({ at: at + field, is: undefined, say: `must be given with kind ${String(kind)}` })),
    ...(isFinal
      ? [{ at: `${at}whenEmpty`, is: whenEmpty, say: 'would deny for ever: once empty, nothing could refill it' }]
      : []),
    ...(unpayable ? [{ at: `${at}retryCost`, is: retryCost, say: 'can never be paid: capacity is less' }] : []),
  ]
}

function sharedFields(): Fields {
  return { whenEmpty: oneOf('deny-retries', 'deny-calls'), replicas: wholeNumber(1, 100_000) }
}

interface KindFields {
  readonly required: Fields
  readonly optional?: Fields
}

/** Made when a budget is checked: whoever lives with the default one need not carry them. */
function fieldsByKind(): { readonly [kind in BudgetPolicy['kind']]: KindFields } {
  const anyCount = wholeNumber(0, 1e9)
  const anyRatio = numberBetween(0, 10)
  return {
    ratio: {
      required: { ratio: anyRatio, windowMs: milliseconds(10), minRetries: anyCount },
      optional: { reserve: anyCount, minCalls: anyCount, of: oneOf('operations', 'attempts') },
    },
    tokens: { required: { maxTokens: numberBetween(0.001, 1_000), tokenRatio: numberBetween(0.001, 1_000) } },
    quota: {
      required: {
        capacity: wholeNumber(1, 1e9),
        retryCost: anyCount,
        throttledCost: anyCount,
        successGain: anyCount,
      },
    },
    rate: { required: { perSecond: numberBetween(0.001, 1e9), burst: numberBetween(1, 1e9) } },
    concurrent: { required: { ratio: anyRatio, minRetries: anyCount } },
  }
}
