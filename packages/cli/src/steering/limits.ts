import type { Destination, DestinationLimits } from '@secondwind/client'
import { DEFAULT_LANE } from '@secondwind/resilience/rules'
import type { Command } from '../command.ts'
import { given } from '../input/given.ts'
import { duration, optional, perSecond, readOptions, text, wholeNumber, type Reader } from '../input/read-options.ts'
import { share } from '../input/read-share.ts'
import { reasonOf } from '../remote/reason.ts'
import type { RemoteCall } from '../remote/remote-command.ts'
import { destinationChange } from './destination-change.ts'
import { nameOf, watchIt } from './watch-it.ts'

type Budget = NonNullable<DestinationLimits['budget']>

export const limitsCommand: Command = destinationChange({
  path: ['destinations', 'limits'],
  summary: 'sets the name and the limits of a destination; what is left out stays as it is',
  options: [
    { flag: '--name <name>', say: 'a name for people, which every command takes' },
    { flag: '--concurrency <number>', say: 'requests under way at once' },
    { flag: '--rate <rate>', say: 'attempts a second, such as 50/s' },
    { flag: '--breaker-failure-rate <share>', say: 'the breaker opens when such a part fails, as 50%' },
    { flag: '--breaker-min-calls <number>', say: 'of at least so many attempts' },
    { flag: '--breaker-open <duration>', say: 'and stays open for so long at first' },
    { flag: '--retry-budget <budget>', say: 'retries: a part of all first attempts, as 10%, or so many, as 5/s' },
    { flag: '--min-retries <number>', say: 'beside a part: so many in ten seconds are always allowed' },
  ],
  examples: [
    'destinations limits https://api.pay.example --name payments --concurrency 20 --rate 50/s',
    'destinations limits https://api.pay.example --breaker-failure-rate 30% --retry-budget 5%',
  ],
  change: setLimits,
  say: destination => `The limits of ${nameOf(destination)} are in force within two seconds.`,
  next: watchIt,
})

/** Read first: what is not given is kept, and what somebody else changed meanwhile is not overwritten. */
async function setLimits(client: RemoteCall['client'], named: string, { options }: RemoteCall): Promise<Destination> {
  const { name, concurrency, rate, breakerFailureRate, breakerMinCalls, breakerOpen, retryBudget, minRetries } =
    readOptions(options, {
      name: optional(text()),
      concurrency: optional(wholeNumber(1, 100_000)),
      rate: optional(perSecond()),
      breakerFailureRate: optional(share),
      breakerMinCalls: optional(wholeNumber(2, 10_000)), // one failed call never opens a breaker,
      breakerOpen: optional(duration(1, 86_400_000)),
      retryBudget: optional(budget),
      minRetries: optional(wholeNumber(1, 1_000_000)),
    })
  const before = await client.destinations.get(named)
  const { limits = {} } = before.settings ?? {}
  const rateLimit = rate === undefined ? undefined : { perSecond: rate }
  const breaker = given({ failureRate: breakerFailureRate, minCalls: breakerMinCalls, openMs: breakerOpen })
  return client.destinations.put(named, {
    ...given({ name: name ?? before.name }),
    limits: {
      ...limits,
      ...given({ concurrency, rateLimit, budget: changedBudget(limits.budget, retryBudget, minRetries) }),
      ...(Object.keys(breaker).length > 0 && { breaker: { ...limits.breaker, ...breaker } }),
    },
    version: before.settings?.version ?? 0,
    ...reasonOf(options),
  })
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

/** What belongs to its kind and was not given stays as it is, or is as for every destination. */
function changedBudget(
  before: Budget | undefined,
  asked: GivenBudget | undefined,
  minRetries: number | undefined,
): Budget | undefined {
  if (asked?.kind === 'rate')
    return { kind: 'rate', perSecond: asked.perSecond, burst: Math.max(1, Math.ceil(asked.perSecond)) }
  if (asked === undefined && minRetries === undefined) return undefined
  const usual = DEFAULT_LANE.budget as Extract<Budget, { kind: 'ratio' }>
  const known = before?.kind === 'ratio' ? before : usual
  return { ...known, ...given({ ratio: asked?.ratio, minRetries }) }
}
