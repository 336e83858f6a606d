/**
 * From what somebody knows about a call to a policy for it, with a reason for every field. The numbers are those of
 * the library's own defaults and presets, bent only as far as an answer demands it.
 */
import { DEFAULT_BREAKER, DEFAULT_BUDGET, DEFAULT_THROTTLE, type PipelinePolicyInput } from '@secondwind/resilience'
import { isRepeatable, type Answers, type Reason } from './answers.ts'
import { adviseRetry } from './advise-retry.ts'

export interface Advice {
  /** Its name and the fields that have a reason; the rest is the default. */
  readonly policy: PipelinePolicyInput
  readonly reasons: readonly Reason[]
  /** What no policy can do. */
  readonly besides: readonly string[]
}

/** A policy, why each of its fields is what it is, and what is left to do. */
export function advise(answers: Answers, name = 'advised'): Advice {
  const reasons = [
    ...adviseRetry(answers),
    ...adviseBudget(answers),
    ...adviseBreaker(),
    ...adviseHedge(answers),
    ...adviseThrottle(answers),
  ]
  const policy = assemble(name, reasons)
  return { policy, reasons, besides: adviseBesides(answers, policy.retry.maxAttempts) }
}

function adviseBudget(answers: Answers): Reason[] {
  if (!isRepeatable(answers)) return []
  const { kind, ratio, windowMs, minRetries } = DEFAULT_BUDGET
  const room = roomOf(answers)
  const isTight = room.ratio < ratio
  return [
    { at: 'budget.kind', is: kind, because: 'it grows and shrinks with the traffic' },
    isTight
      ? { at: 'budget.ratio', is: room.ratio, because: 'an outage may add no more than the capacity that is left' }
      : { at: 'budget.ratio', is: ratio, because: 'when everything fails, a tenth more load' },
    { at: 'budget.windowMs', is: windowMs, because: 'smooths a burst and forgets an outage' },
    isTight
      ? { at: 'budget.minRetries', is: room.minRetries, because: 'the same share of the usual load in one window' }
      : { at: 'budget.minRetries', is: minRetries, because: 'a client with few calls may still retry' },
  ]
}

/** Even where there is no room one call in a hundred has a second chance. */
const LEAST_RATIO = 0.01

/** What retries may add on a bad day: what is left of the capacity, as far as somebody said it. */
function roomOf({ capacity }: Answers): { readonly ratio: number; readonly minRetries: number } {
  const { ratio, windowMs, minRetries } = DEFAULT_BUDGET
  if (capacity === undefined) return { ratio, minRetries }
  const { loadPerSecond, capacityPerSecond } = capacity
  const spare = Math.floor((capacityPerSecond / loadPerSecond - 1) * 100) / 100
  const share = Math.max(LEAST_RATIO, Math.min(ratio, spare))
  return { ratio: share, minRetries: Math.min(minRetries, Math.floor((share * loadPerSecond * windowMs) / 1_000)) }
}

function adviseBreaker(): Reason[] {
  const { failureRate, windowMs, minCalls, openMs, probes } = DEFAULT_BREAKER
  return [
    { at: 'breaker.failureRate', is: failureRate, because: 'below that, retries still do more good than harm' },
    { at: 'breaker.windowMs', is: windowMs, because: 'an outage, not a hiccup' },
    { at: 'breaker.minCalls', is: minCalls, because: 'fewer say nothing about the dependency' },
    { at: 'breaker.openMs', is: openMs, because: 'time for a restart' },
    { at: 'breaker.probes', is: probes, because: 'one success may be luck' },
  ]
}

/** With less to spare, company for slow calls takes what retries will need. */
const HEDGE_HEADROOM = 1.5
/** Sooner than a round trip to another region, every call would have company. */
const REGION_DELAY_MS = 200

function adviseHedge({ operation, userFacing, rateLimited, otherRegion, capacity }: Answers): Reason[] {
  const headroom = capacity === undefined ? 0 : capacity.capacityPerSecond / capacity.loadPerSecond
  if (operation === 'write' || !userFacing || rateLimited || headroom < HEDGE_HEADROOM) return []
  const because = 'a person waits, and the slowest call in twenty is most of the tail'
  return [
    { at: 'hedge.delayPercentile', is: 95, because },
    { at: 'hedge.maxExtraLoad', is: 0.02, because: 'the dependency has room for two calls in a hundred' },
    ...(otherRegion
      ? [{ at: 'hedge.minDelayMs', is: REGION_DELAY_MS, because: 'no copy before a round trip to the other region' }]
      : []),
  ]
}

function adviseThrottle({ rateLimited }: Answers): Reason[] {
  const because = 'keeps back here what a limited dependency would only refuse there'
  return rateLimited ? [{ at: 'throttle.acceptMultiplier', is: DEFAULT_THROTTLE.acceptMultiplier, because }] : []
}

function adviseBesides(answers: Answers, maxAttempts: number | undefined): string[] {
  const { userFacing, rateLimited, critical, otherRegion, capacity } = answers
  const isFull = capacity !== undefined && capacity.capacityPerSecond <= capacity.loadPerSecond
  return [
    ...(isRepeatable(answers) ? [] : ['give the call an idempotency key and ask again: then it can be retried']),
    ...(critical && !userFacing ? ['keep what is left after the last attempt, to do it again later'] : []),
    ...(otherRegion
      ? ['keep connections open: each new one costs round trips to the other region', adviseFailOver(maxAttempts)]
      : []),
    ...(rateLimited ? ['set rateLimit to what you were granted, so that nothing is refused to begin with'] : []),
    ...(isFull ? ['the dependency has no room on a usual day: no policy can change that'] : []),
  ]
}

/** Of itself `failOver` makes two attempts at home: with fewer than three none would ever leave it. */
function adviseFailOver(maxAttempts = 1): string {
  if (maxAttempts === 1)
    return 'where more regions serve it, failOver could make a second attempt in another one: this policy has only one'
  const input = maxAttempts === 2 ? '{ home, others, homeAttempts: 1 }' : '{ home, others }'
  return `where more regions serve it, call it through failOver(${input}): the last attempts leave a region that is down`
}

function assemble(name: string, reasons: readonly Reason[]): PipelinePolicyInput {
  const parts: { [part: string]: { [field: string]: number | string } } = {}
  for (const { at, is } of reasons) {
    const [part = '', field = ''] = at.split('.')
    parts[part] = { ...parts[part], [field]: is }
  }
  return { name, retry: {}, ...parts }
}
