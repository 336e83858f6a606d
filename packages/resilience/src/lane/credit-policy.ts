import { checkFields, isRecord, numberBetween, wholeNumber, type Problem } from '../check/problems.ts'
import type { CreditPolicy } from './credit.ts'
import { START_KINDS, type PerKind } from './kind.ts'

export const DEFAULT_CREDIT: CreditPolicy = {
  // The attempts that one answer pays for: with 2 for retries, tasks that each fail twice would crawl.
  perAnswer: { first: 3, retry: 4, late: 2 },
  // Enough to get a busy destination going, and few enough to lose while it is down. Retries have most: they are what
  // a destination answers after an outage. With one purse for all, tasks that always fail would starve first attempts.
  most: { first: 20, retry: 60, late: 20 },
  probeShare: 0.05, // its return is noticed within a twentieth of the outage
  probeMinMs: 1_000, // a request a second hurts no destination
  probeMaxMs: 60_000, // and after a long outage a minute is soon enough
}

export interface CreditInput extends Partial<Pick<CreditPolicy, 'probeShare' | 'probeMinMs' | 'probeMaxMs'>> {
  readonly perAnswer?: Partial<PerKind<number>>
  readonly most?: Partial<PerKind<number>>
}

export function withCreditDefaults({ perAnswer, most, ...probes }: CreditInput = {}): CreditPolicy {
  const { probeShare, probeMinMs, probeMaxMs } = DEFAULT_CREDIT
  const leastMs = probes.probeMinMs ?? Math.min(probeMinMs, probes.probeMaxMs ?? probeMinMs)
  return {
    perAnswer: { ...DEFAULT_CREDIT.perAnswer, ...perAnswer },
    most: { ...DEFAULT_CREDIT.most, ...most },
    probeShare: probes.probeShare ?? probeShare,
    probeMinMs: leastMs,
    probeMaxMs: probes.probeMaxMs ?? Math.max(probeMaxMs, leastMs),
  }
}

/** Fields of one document laid over those of another. */
export function creditOver(below: CreditInput = {}, above: CreditInput = {}): CreditInput {
  return {
    ...below,
    ...above,
    perAnswer: { ...below.perAnswer, ...above.perAnswer },
    most: { ...below.most, ...above.most },
  }
}

export function checkCredit(input: unknown, path: string): Problem[] {
  if (!isRecord(input)) return [{ at: path, is: input, say: 'must be an object with the fields of credit' }]
  const { perAnswer, most, probeMinMs, probeMaxMs } = input
  const problems = [
    ...checkFields(input, FIELDS, WRONG_WORDS, `${path}.`),
    ...checkKinds(perAnswer, `${path}.perAnswer`),
    ...checkKinds(most, `${path}.most`),
  ]
  if (typeof probeMinMs === 'number' && typeof probeMaxMs === 'number' && probeMinMs > probeMaxMs)
    problems.push({ at: `${path}.probeMinMs`, is: probeMinMs, say: `must be at most probeMaxMs (${probeMaxMs})` })
  return problems
}

function checkKinds(input: unknown, path: string): Problem[] {
  if (input === undefined) return []
  if (!isRecord(input)) return [{ at: path, is: input, say: `must be an object with ${START_KINDS.join(', ')}` }]
  return checkFields(input, KINDS, {}, `${path}.`)
}

/** A purse that is never filled would send probes alone, for ever. */
const attempts = wholeNumber(1, 1e6)

/** A day at most: a destination that is asked more seldom is as good as paused, and a pause says so. */
const anInterval = wholeNumber(100, 86_400_000)

const KINDS = { first: attempts, retry: attempts, late: attempts }

const FIELDS = {
  perAnswer: (): undefined => undefined, // looked into on its own, as `most`
  most: (): undefined => undefined,
  probeShare: numberBetween(0.001, 1),
  probeMinMs: anInterval,
  probeMaxMs: anInterval,
}

const WRONG_WORDS = { max: 'most', capacity: 'most', minIntervalMs: 'probeMinMs', maxIntervalMs: 'probeMaxMs' }
