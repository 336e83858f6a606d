import { checkFields, isRecord, milliseconds, numberBetween, wholeNumber } from '../check/problems.ts'
import type { Fields, Problem } from '../check/problems.ts'
import { checkSamples, sampleFields, withSampleDefaults, type SamplePolicy } from '../latency/policy.ts'

/**
 * When a call that has not answered yet gets company: the same call once more, to another replica where there is one.
 * The first answer wins and the others are cancelled. Plain JSON.
 *
 * Calls that must not be repeated are never hedged, and every hedge is paid for by the retry budget too: its own limit
 * is a second one, so that a slow dependency cannot spend all retries on company.
 */
export interface HedgePolicy extends SamplePolicy {
  /** Company comes when the call has taken longer than so many in a hundred of the recent successes. */
  readonly delayPercentile: number
  /** Company comes after this time instead, whatever the recent successes took; 0: at once. */
  readonly delayMs?: number
  /** The percentile is never read as less, however fast the recent successes were. */
  readonly minDelayMs: number
  /** At most so many calls besides the first, each after another such delay. */
  readonly maxExtraCalls: number
  /** Hedges, as a share of the calls in the window. Rounded up: a client of few calls has one in a window. */
  readonly maxExtraLoad: number
  readonly windowMs: number
}

/** The slowest call in twenty gets one other call for company, two in a hundred at the most. */
export const DEFAULT_HEDGE: HedgePolicy = {
  delayPercentile: 95, // one call in twenty is slower: most of the tail for little load
  minDelayMs: 1, // below a timer's resolution every call would have company
  sampleCalls: 1_000, // enough for a p99; a few seconds of a busy client
  minSamples: 20, // the p95 of fewer is their maximum
  maxExtraCalls: 1, // the second copy takes most of the tail away, the third hardly any
  maxExtraLoad: 0.02, // a fleet has room for two per cent on a bad day
  windowMs: 10_000, // as long as the retry budget's: both look at the same calls
}

export type HedgeInput = Partial<HedgePolicy>

export function withHedgeDefaults(input: HedgeInput): HedgePolicy {
  return withSampleDefaults(DEFAULT_HEDGE, input)
}

/** All problems of a hedge's document. */
export function checkHedge(input: unknown, path = ''): Problem[] {
  if (!isRecord(input))
    return [{ at: path, is: input, say: 'must be an object with the fields of a hedge; {} has its defaults' }]
  const at = path && `${path}.`
  const problems = checkFields(input, fields(), WRONG_WORDS, at)
  if (problems.length > 0) return problems
  const { delayPercentile = DEFAULT_HEDGE.delayPercentile, delayMs } = input
  // The default is no wish: it stands in every completed document.
  if (delayPercentile !== DEFAULT_HEDGE.delayPercentile && delayMs !== undefined)
    problems.push({ at: `${at}delayMs`, is: delayMs, say: 'takes the place of delayPercentile: give one of them' })
  return [...problems, ...checkSamples(withHedgeDefaults(input), at)]
}

/** Made when a document is checked: whoever lives with the defaults need not carry it. */
function fields(): Fields {
  return {
    delayPercentile: numberBetween(1, 99.99),
    delayMs: milliseconds(),
    minDelayMs: milliseconds(1),
    maxExtraCalls: wholeNumber(1, 10),
    maxExtraLoad: numberBetween(0.0001, 1),
    windowMs: milliseconds(10),
    ...sampleFields(),
  }
}

/** What other libraries call it. */
const WRONG_WORDS = {
  after: 'delayMs or delayPercentile',
  delay: 'delayMs or delayPercentile',
  hedgingDelay: 'delayMs or delayPercentile',
  maxAttempts: 'maxExtraCalls, which does not count the first call (maxAttempts - 1)',
  maxHedges: 'maxExtraCalls',
  budget: 'maxExtraLoad',
}
