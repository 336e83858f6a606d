import {
  checkFields,
  isRecord,
  withoutUndefined,
  milliseconds,
  numberBetween,
  oneOf,
  wholeNumber,
  type Fields,
  type Problem,
} from '../check/problems.ts'

/**
 * A limit on the calls under way that finds its own number: it grows while answers stay fast and shrinks when they
 * slow down or are dropped. Measured per attempt, so that no wait enters the samples. The three kinds are those of
 * Netflix's concurrency-limits, with guards around them (see `nextLimit`). Plain JSON.
 */
export type LimiterPolicy = VegasLimiter | Gradient2Limiter | AimdLimiter

interface AnyLimiter {
  /** The limit moves between these. */
  readonly minLimit: number
  readonly maxLimit: number
  /** Where it begins. */
  readonly initialLimit: number
  /** A call that took longer counts as dropped, whatever the others took; absent: only time-outs and refusals do. */
  readonly slowCallMs?: number
  /** What is left of the limit after a dropped call. */
  readonly backoffRatio: number
}

/** Compares each call with the fastest one known, and keeps the queue that this suggests short (TCP Vegas). */
export interface VegasLimiter extends AnyLimiter {
  readonly kind: 'vegas'
  /** How much of each step is taken: 1 all of it. */
  readonly smoothing: number
  /** The fastest call known is forgotten after about so many times the limit of calls: it may have been luck. */
  readonly probeMultiplier: number
}

/** Compares the latest calls with a long average of them. */
export interface Gradient2Limiter extends AnyLimiter {
  readonly kind: 'gradient2'
  readonly smoothing: number
  /** Calls that may wait at the dependency while nothing is slow. */
  readonly queueSize: number
  /** So many times the long average is still not slow. */
  readonly tolerance: number
  /** The long average is taken of about so many calls. */
  readonly longWindowCalls: number
}

/** One more for each good answer, a part less for each dropped one (TCP Reno). */
export interface AimdLimiter extends AnyLimiter {
  readonly kind: 'aimd'
}

type ByKind = { readonly [Limiter in LimiterPolicy as Limiter['kind']]: Limiter }

// The smallest limit is one in all of them: with the published twenty, nineteen calls too many would stay for ever.
export const DEFAULT_LIMITERS: ByKind = {
  vegas: {
    kind: 'vegas',
    minLimit: 1,
    maxLimit: 1_000, // published; Vegas finds its place well below it
    initialLimit: 20, // published: small enough to do no harm, large enough to learn from
    backoffRatio: 0.9, // as published for AIMD: gentle, for drops come in bunches
    smoothing: 1, // published: its steps are small already
    probeMultiplier: 30, // published: often enough to notice that a dependency has become slower for good
  },
  gradient2: {
    kind: 'gradient2',
    minLimit: 1,
    maxLimit: 200, // published: a gradient drifts upward while nothing is slow, and here it ends
    initialLimit: 20,
    backoffRatio: 0.9,
    smoothing: 0.2, // published: five samples make a step, for one slow call says little
    queueSize: 4, // published: room to grow into
    tolerance: 1.5, // published: half as slow again is noise
    longWindowCalls: 600, // published: a minute at ten calls a second
  },
  aimd: {
    kind: 'aimd',
    minLimit: 1,
    maxLimit: 200, // published
    initialLimit: 20,
    slowCallMs: 5_000, // published; the only kind that cannot tell slow from fast without it
    backoffRatio: 0.9,
  },
}

/** What users write: the kind, and any part of the rest. */
export type LimiterInput = {
  readonly [Kind in keyof ByKind]: Partial<ByKind[Kind]> & { readonly kind: Kind }
}[keyof ByKind]

export function withLimiterDefaults(input: LimiterInput): LimiterPolicy {
  const policy = { ...DEFAULT_LIMITERS[input.kind], ...withoutUndefined(input) } as LimiterPolicy
  // Whoever names only one end of the range meant the range to hold it.
  const { maxLimit = Math.max(policy.maxLimit, policy.minLimit, policy.initialLimit) } = input
  const { initialLimit = Math.min(Math.max(policy.initialLimit, policy.minLimit), maxLimit) } = input
  return { ...policy, maxLimit, initialLimit }
}

/** All problems of a limiter's document. */
export function checkLimiter(input: unknown, path = ''): Problem[] {
  if (!isRecord(input)) return [{ at: path, is: input, say: 'must be an object with kind and perhaps its fields' }]
  const at = path && `${path}.`
  const { kind } = input
  if (!isKind(kind))
    return [{ at: `${at}kind`, is: kind, say: `must be ${oneOf(...Object.keys(DEFAULT_LIMITERS))(null)}` }]
  const problems = checkFields(input, { kind: oneOf(kind), ...sharedFields(), ...fieldsOf(kind) }, WRONG_WORDS, at)
  if (problems.length > 0) return problems
  const { minLimit, maxLimit, initialLimit } = withLimiterDefaults(input as LimiterInput)
  if (minLimit > maxLimit)
    problems.push({ at: `${at}minLimit`, is: minLimit, say: `must not exceed maxLimit, ${maxLimit}` })
  else if (initialLimit < minLimit || initialLimit > maxLimit)
    problems.push({
      at: `${at}initialLimit`,
      is: initialLimit,
      say: `must be from ${minLimit} to ${maxLimit}, as the limit is`,
    })
  return problems
}

function isKind(kind: unknown): kind is keyof ByKind {
  return typeof kind === 'string' && Object.hasOwn(DEFAULT_LIMITERS, kind)
}

function sharedFields(): Fields {
  const anyLimit = wholeNumber(1, 1e6)
  return {
    minLimit: anyLimit,
    maxLimit: anyLimit,
    initialLimit: anyLimit,
    slowCallMs: milliseconds(1),
    backoffRatio: numberBetween(0.5, 0.999),
  }
}

function fieldsOf(kind: keyof ByKind): Fields {
  const anyShare = numberBetween(0.001, 1)
  switch (kind) {
    case 'vegas':
      // With fewer, a limit of one would do nothing but probe, and never grow again.
      return { smoothing: anyShare, probeMultiplier: wholeNumber(10, 1e6) }
    case 'gradient2':
      return {
        smoothing: anyShare,
        queueSize: wholeNumber(0, 1e6),
        // An average is approached and never reached: at exactly one, a call like all others would be slow by a hair.
        tolerance: numberBetween(1.01, 100),
        longWindowCalls: wholeNumber(1, 1e6),
      }
    case 'aimd':
      return {}
  }
}

/** What other libraries call it. */
const WRONG_WORDS = {
  limit: 'initialLimit, minLimit or maxLimit',
  maxConcurrency: 'maxLimit',
  timeout: 'slowCallMs',
  rttTolerance: 'tolerance',
  longWindow: 'longWindowCalls',
}
