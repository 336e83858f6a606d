/** The flags for the credit of a destination: how many attempts it is sent before it answers, and how often it is probed. */
import { checkLane, creditOver, withCreditDefaults, type CreditInput } from '@secondwind/resilience/rules'
import type { Option } from '../command.ts'
import { KINDS } from '../destinations/say-gates.ts'
import { duration, flagOf, type Reader } from '../input/read-options.ts'
import { share } from '../input/read-share.ts'
import { byLaneRules } from './by-lane-rules.ts'

export const CREDIT_OPTIONS: readonly Option[] = [
  { flag: '--credit-most <counts>', say: 'attempts before it answers, as first=20,retry=60,late=20' },
  { flag: '--credit-per-answer <counts>', say: 'so many more after each answer, as first=3,retry=4,late=2' },
  { flag: '--probe-min <duration>', say: 'without credit it is sent one attempt at a time, at least so far apart' },
  { flag: '--probe-max <duration>', say: 'and at most so far apart' },
  { flag: '--probe-share <share>', say: 'between the two: such a part of the time without credit, as 5%' },
]

/** With more than a day between probes it would be a pause. */
const LONGEST_MS = 86_400_000

type Counts = NonNullable<CreditInput['most']>

interface CreditFlags {
  readonly creditMost: Counts
  readonly creditPerAnswer: Counts
  readonly probeMin: number
  readonly probeMax: number
  readonly probeShare: number
}

/** What was given; null: the word that takes it off. */
type AskedCredit = { readonly [Flag in keyof CreditFlags]?: CreditFlags[Flag] | null | undefined }

export const CREDIT_READERS: { readonly [Flag in keyof CreditFlags]: Reader<CreditFlags[Flag]> } = {
  creditMost: counts('most'),
  creditPerAnswer: counts('perAnswer'),
  probeMin: duration(100, LONGEST_MS),
  probeMax: duration(100, LONGEST_MS),
  probeShare: byLaneRules(share, probeShare => ({ credit: { probeShare } })),
}

const FIELDS = {
  creditMost: 'most',
  creditPerAnswer: 'perAnswer',
  probeMin: 'probeMinMs',
  probeMax: 'probeMaxMs',
  probeShare: 'probeShare',
} as const satisfies { readonly [flag in keyof AskedCredit]: keyof CreditInput }

/** `first=5,retry=10`: kinds that are left out stay as they are. */
function counts(part: 'most' | 'perAnswer'): Reader<Counts> {
  const must = `counts such as first=5,retry=10, of ${KINDS.join(', ')}`
  return typed => {
    const pairs = String(typed)
      .split(',')
      .map(pair => /^(\w+)=(\d+)$/.exec(pair.trim()) ?? [])
      .map(([, kind = '', count]): readonly [string, number] => [kind, Number(count)])
    const value: Counts = Object.fromEntries(pairs)
    // Each kind once, and no other word.
    if (KINDS.filter(kind => value[kind] !== undefined).length < pairs.length) return { must }
    const [problem] = checkLane({ credit: { [part]: value } })
    return problem === undefined ? { value } : { must: `${must}, each ${problem.say.replace(/^must be /, '')}` }
  }
}

/** Kinds and fields that were not given stay; null where nothing is left. */
export function changedCredit(before: CreditInput = {}, asked: AskedCredit): CreditInput | null {
  const flags = Object.entries(FIELDS).map(([flag, field]) => [field, asked[flag as keyof AskedCredit]] as const)
  const takenOff = new Set<string>(flags.flatMap(([field, value]) => (value === null ? field : [])))
  const kept = Object.entries(before).filter(([field]) => !takenOff.has(field))
  const given = flags.filter(([, value]) => value !== null && value !== undefined)
  const after = creditOver(Object.fromEntries(kept), Object.fromEntries(given))
  const set = Object.entries(after).filter(([, value]) => typeof value === 'number' || Object.keys(value).length > 0)
  return set.length === 0 ? null : Object.fromEntries(set)
}

/** What holds for every destination beside what was set for this one. */
export function usualCreditBeside(set: CreditInput): CreditInput {
  const usual = withCreditDefaults(set)
  const beside = (part: 'most' | 'perAnswer'): CreditInput => {
    const left = KINDS.filter(kind => set[part]?.[kind] === undefined).map(kind => [kind, usual[part][kind]])
    return left.length === 0 ? {} : { [part]: Object.fromEntries(left) }
  }
  const { probeShare, probeMinMs, probeMaxMs } = usual
  const probes = Object.entries({ probeShare, probeMinMs, probeMaxMs }).filter(([field]) => !Object.hasOwn(set, field))
  return { ...beside('most'), ...beside('perAnswer'), ...Object.fromEntries(probes) }
}

/** The flags behind what is set. */
export function creditFlags(set: CreditInput = {}): readonly string[] {
  return Object.entries(FIELDS).flatMap(([flag, field]) => (set[field] === undefined ? [] : [flagOf(flag)]))
}
