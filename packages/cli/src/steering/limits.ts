import type { Destination, DestinationLimits } from '@secondwind/client'
import { DEFAULT_BUDGET } from '@secondwind/resilience'
import { creditOver, DEFAULT_LANE } from '@secondwind/resilience/rules'
import type { Answer, Command, Option } from '../command.ts'
import { destinationPage } from '../destinations/destination-page.ts'
import { isUnknown, unknownDestination } from '../destinations/never-used.ts'
import { sayLimits } from '../destinations/say-limits.ts'
import { given } from '../input/given.ts'
import { optional, perSecond, readOptions, text, type Reader } from '../input/read-options.ts'
import { share } from '../input/read-share.ts'
import { retyped } from '../input/typed.ts'
import { REASON_OPTION, reasonOf } from '../remote/reason.ts'
import { remoteCommand, type RemoteCall } from '../remote/remote-command.ts'
import { byLaneRules, digits } from './by-lane-rules.ts'
import { changedCredit, CREDIT_OPTIONS, CREDIT_READERS, creditFlags, usualCreditBeside } from './credit-limits.ts'
import { destinationChange } from './destination-change.ts'
import { nameOf, watchIt } from './watch-it.ts'

type Budget = NonNullable<DestinationLimits['budget']>

/** Of a budget that is a part of all first attempts: what was not given, as in the library. */
const USUAL_BUDGET: Extract<Budget, { kind: 'ratio' }> = DEFAULT_BUDGET

const LIMIT_OPTIONS: readonly Option[] = [
  { flag: '--name <name>', say: 'a name for people, which every command takes; none takes it off' },
  { flag: '--concurrency <number>', say: 'requests under way at once' },
  { flag: '--rate <rate>', say: 'attempts a second, such as 50/s' },
  ...CREDIT_OPTIONS,
  { flag: '--retry-budget <budget>', say: 'retries: a part of all first attempts, as 10%, or so many, as 5/s' },
  { flag: '--min-retries <number>', say: 'beside a part: so many in ten seconds are always allowed' },
]

const changeLimits: Command = destinationChange({
  path: ['destinations', 'limits'],
  summary:
    'shows the limits of a destination, or sets them and its name; what is left out stays, and none takes off what it stands for',
  options: LIMIT_OPTIONS,
  examples: [
    'destinations limits https://api.pay.example',
    'destinations limits https://api.pay.example --name payments --concurrency 20 --rate 50/s',
    'destinations limits https://api.pay.example --rate none --retry-budget 5%',
  ],
  change: setLimits,
  say: destination => {
    const words = sayLimits(destination.settings?.limits)
    return words === undefined
      ? `${nameOf(destination)} has no limits of its own within two seconds.`
      : `The limits of ${nameOf(destination)} are in force within two seconds: ${words}.`
  },
  next: (destination, call) => [...takeOff(destination, call), ...watchIt(destination, call)],
})

const lookAtLimits: Command = remoteCommand({ ...changeLimits, options: [], run: showLimits })

/** Without a limit it only shows those in force: nothing is written. */
export const limitsCommand: Command = {
  ...changeLimits,
  run: call =>
    [...LIMIT_OPTIONS, REASON_OPTION].some(option => retyped(call.options, [option]).length > 0)
      ? changeLimits.run(call)
      : lookAtLimits.run(call),
}

async function showLimits(call: RemoteCall): Promise<Answer> {
  const named = call.args[0] as string
  const destination = await call.client.destinations.get(named)
  if (isUnknown(destination)) throw await unknownDestination(destination, named, call)
  const ofTenants = [destination, ...(destination.tenants ?? [])]
  const sets = [
    ['', destination.settings],
    ['for all: ', destination.operatorSettings],
    ...ofTenants.map(({ tenant = '', tenantSettings }) => [`by ${tenant} for itself: `, tenantSettings] as const),
  ] as const
  const words = sets.flatMap(([whose, set]) => {
    const limits = sayLimits(set?.limits)
    return limits === undefined ? [] : [`${whose}${limits}`]
  })
  const usual = sayLimits(usualBeside(sets.map(([, set]) => set?.limits ?? {})))
  return {
    data: destination,
    show: await destinationPage(destination, call),
    verdict:
      words.length === 0
        ? `${nameOf(destination)} has no limits of its own: those of every destination hold: ${usual}.`
        : `${nameOf(destination)} is limited: ${words.join('; ')}. Where two are set the stricter holds.${usual === undefined ? '' : ` Besides, as for every destination: ${usual}.`}`,
    next: takeOff(destination, call),
  }
}

/** What holds for every destination, but for what is set for this one. */
function usualBeside(sets: readonly DestinationLimits[]): DestinationLimits {
  const isSet = (part: keyof DestinationLimits): boolean => sets.some(limits => limits[part] !== undefined)
  const credit = usualCreditBeside(sets.map(limits => limits.credit ?? {}).reduce(creditOver))
  return {
    ...(!isSet('concurrency') && { concurrency: DEFAULT_LANE.limit }),
    ...(!isEmpty(credit) && { credit }),
  }
}

/** The line that takes off what is set, one flag for each. */
function takeOff(destination: Destination, { typed }: RemoteCall): readonly string[] {
  const { concurrency, rateLimit, credit, budget: retries } = destination.settings?.limits ?? {}
  const flags = [
    ...(concurrency === undefined ? [] : ['--concurrency']),
    ...(rateLimit === undefined ? [] : ['--rate']),
    ...creditFlags(credit),
    ...(retries === undefined ? [] : ['--retry-budget']),
  ]
  if (flags.length === 0) return []
  return [typed('destinations', 'limits', nameOf(destination), ...flags.flatMap(flag => [flag, TAKEN_OFF]))]
}

const TAKEN_OFF = 'none'

/** A limit, or a name, that is set, or null for one that is taken off. */
function limit<Value>(read: Reader<Value>): Reader<Value | null | undefined> {
  return optional<Value | null>(typed => {
    if (typed === TAKEN_OFF) return { value: null }
    const answer = read(typed)
    return 'must' in answer ? { must: `${answer.must}; or ${TAKEN_OFF}, which takes it off` } : answer
  })
}

/** Read first: what is not given is kept, and what another operator changed meanwhile is not overwritten. */
async function setLimits(client: RemoteCall['client'], named: string, { options }: RemoteCall): Promise<Destination> {
  const { name, concurrency, rate, retryBudget, minRetries, ...credit } = readOptions(options, {
    name: limit(text()),
    concurrency: limit(byLaneRules(digits, value => ({ limit: value }))),
    rate: limit(perSecond()),
    creditMost: limit(CREDIT_READERS.creditMost),
    creditPerAnswer: limit(CREDIT_READERS.creditPerAnswer),
    probeMin: limit(CREDIT_READERS.probeMin),
    probeMax: limit(CREDIT_READERS.probeMax),
    probeShare: limit(CREDIT_READERS.probeShare),
    retryBudget: limit(budget),
    minRetries: limit(byLaneRules(digits, minRetries => ({ budget: { ...USUAL_BUDGET, minRetries } }))),
  })
  const before = await client.destinations.get(named)
  const { limits: known = {} } = before.settings ?? {}
  const limits = changed<DestinationLimits>(known, {
    concurrency,
    rateLimit: typeof rate === 'number' ? { perSecond: rate } : rate,
    credit: changedCredit(known.credit, credit),
    budget: changedBudget(known.budget, retryBudget, minRetries),
  })
  return client.destinations.put(named, {
    ...(name !== null && given({ name: name ?? before.name })),
    ...(!isEmpty(limits) && { limits }),
    version: before.settings?.version ?? 0,
    ...reasonOf(options),
  })
}

/** Fields that were not given are kept, and those that are null taken off. */
function changed<Fields extends object>(
  before: Fields,
  asked: { readonly [Name in keyof Fields]?: Fields[Name] | null | undefined },
): Fields {
  const after = Object.entries({ ...before, ...given(asked) }).filter(([, value]) => value !== null)
  return Object.fromEntries(after) as Fields
}

function isEmpty(fields: object): boolean {
  return Object.keys(fields).length === 0
}

type GivenBudget =
  | { readonly kind: 'ratio'; readonly ratio: number }
  | { readonly kind: 'rate'; readonly perSecond: number }

const budget: Reader<GivenBudget> = typed => {
  const rate = String(typed).endsWith('/s') ? perSecond()(typed) : undefined
  if (rate !== undefined && 'value' in rate) return { value: { kind: 'rate', perSecond: rate.value } }
  const part = share(typed)
  return 'value' in part
    ? { value: { kind: 'ratio', ratio: part.value } }
    : { must: 'a part such as 10%, or a rate such as 5/s' }
}

/** What belongs to its kind and was not given stays as it is, or is as usual. */
function changedBudget(
  before: Budget | undefined,
  asked: GivenBudget | null | undefined,
  minRetries: number | null | undefined,
): Budget | null | undefined {
  if (asked === null) return null
  if (asked?.kind === 'rate')
    return { kind: 'rate', perSecond: asked.perSecond, burst: Math.max(1, Math.ceil(asked.perSecond)) }
  if (asked === undefined && minRetries === undefined) return undefined
  const known = before?.kind === 'ratio' ? before : USUAL_BUDGET
  return {
    ...known,
    ...given({ ratio: asked?.ratio, minRetries: minRetries === null ? USUAL_BUDGET.minRetries : minRetries }),
  }
}
