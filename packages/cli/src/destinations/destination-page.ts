import type { Destination, DestinationSettings, SetBy } from '@secondwind/client'
import { sayMs, sayShare } from '@secondwind/lab'
import { namesOf, type SayingWho } from '../access/who.ts'
import type { Answer, Argument } from '../command.ts'
import { sayCount } from '../output/say-count.ts'
import { sayWhen, whenCell } from '../output/say-time.ts'
import type { RemoteCall } from '../remote/remote-command.ts'
import { ofTenant } from '../remote/whose.ts'
import { sayAttemptEnd } from '../tasks/task-page.ts'
import { labelled } from '../terminal/page.ts'
import { showTable, type Table } from '../terminal/table.ts'
import { KINDS, sayGate, sayHold, sayPerKind } from './say-gates.ts'
import { sayLimits } from './say-limits.ts'
import { saySetBy, settersOf } from './standing-orders.ts'

export const DESTINATION_ARGUMENT: Argument = {
  usage: '<name>',
  say: 'the origin of a destination, such as https://api.pay.example, or the name that it was given',
  isDestination: true,
}

const LABEL_WIDTH = 19

/** All that there is to say of one destination; `lastAnswer`: what it said when it failed last. */
export async function destinationPage(
  one: Destination,
  call: Pick<RemoteCall, 'client' | 'clock'>,
  lastAnswer?: string,
): Promise<Answer['show']> {
  const now = call.clock.now()
  const nameOf = await namesOf(settersOf(one), call)
  const facts: readonly Fact[] = [
    ...settingsOf(one, { now, nameOf }),
    ...factsOf(one, now),
    ['last failure', one.lastFailure && `${sayWhen(one.lastFailure.at, now)}: ${sayAttemptEnd(one.lastFailure)}`],
    ['it said', lastAnswer],
  ]
  return page => {
    const { columns, colors } = page
    return [
      `${colors.bold(one.name === undefined ? one.destination : `${one.name}  ${one.destination}`)}${ofTenant(one)}`,
      '',
      ...facts.flatMap(([label, words]) =>
        words === undefined ? [] : [labelled(`  ${label}`, words, { columns, width: LABEL_WIDTH })],
      ),
      ...(one.tenants === undefined ? [] : ['', showTable(tenantTable(one.tenants, now), page)]),
    ].join('\n')
  }
}

/** Gates are each tenant's own, so that each stands by itself. */
function tenantTable(tenants: NonNullable<Destination['tenants']>, now: number): Table {
  return {
    columns: [
      { name: 'tenant' },
      { name: 'backlog', align: 'right' },
      { name: 'held by' },
      { name: 'breaker' },
      { name: 'credit', dropOrder: 0 },
      { name: 'next probe', dropOrder: 5 },
      { name: 'first due', dropOrder: 4 },
      { name: 'in flight', align: 'right', dropOrder: 3 },
      { name: 'exhausted', align: 'right', dropOrder: 2 },
      { name: 'attempts', align: 'right', dropOrder: 1 },
    ],
    rows: tenants.map(one => [
      one.tenant ?? '',
      one.backlog,
      sayGate(one),
      one.breaker ?? '',
      one.credit === undefined ? '' : sayPerKind(one.credit),
      whenCell(one.nextProbeAt, now),
      whenCell(one.oldestDueAt, now),
      one.inFlight,
      one.exhausted,
      one.attempts,
    ]),
  }
}

type Fact = readonly [label: string, words: string | undefined]

/** Its settings, and who made them: for the caller, for every tenant, and by its tenant for itself. */
function settingsOf(
  { settings, operatorSettings = {}, tenantSettings = {}, tenant = '' }: Destination,
  saying: SayingWho,
): readonly Fact[] {
  const marked = (set: DestinationSettings, mark: string): readonly Fact[] =>
    factsSet(set, saying).map(([label, words]): Fact => [label, words && `${words} (${mark})`])
  return [
    ...factsSet(settings ?? {}, saying),
    ...marked(operatorSettings, 'for all'),
    ...marked(tenantSettings, `by ${tenant} for itself`),
  ]
}

function factsSet(settings: DestinationSettings, saying: SayingWho): readonly Fact[] {
  const { paused, resumed, draining, forced, limits, limitsBy } = settings
  const setBy = (order: SetBy): string => saySetBy(order, saying)
  const words = sayLimits(limits)
  return [
    [
      'paused',
      paused && `${paused.until === undefined ? '' : `until ${sayWhen(paused.until, saying.now)}; `}${setBy(paused)}`,
    ],
    ['resumed', paused === undefined && resumed ? `${setBy(resumed)}${sayWayBack(resumed, saying.now)}` : undefined],
    ['draining', draining && setBy(draining)],
    ['breaker by hand', forced && forced.breaker !== 'auto' ? `${forced.breaker}, ${setBy(forced)}` : undefined],
    ['limits', words && `${words}${limitsBy === undefined ? '' : `, ${setBy(limitsBy)}`}`],
  ]
}

/** How far its ramp is, and what would pause it again on the way. */
function sayWayBack({ since, rampMs, stopOnFailureRate, overLast = USUAL_LAST }: Resumed, now: number): string {
  const passed = rampMs === undefined ? undefined : Math.min(1, Math.max(0, now - since) / rampMs)
  const ramp =
    passed === undefined ? '' : `; ${sayShare(Number(passed.toFixed(2)))} of its ramp of ${sayMs(rampMs!)} is over`
  const isOnItsWay = stopOnFailureRate !== undefined && passed !== 1
  const rule = isOnItsWay
    ? `; paused again if ${sayShare(stopOnFailureRate)} of the last ${overLast} fail on the way`
    : ''
  return `${ramp}${rule}`
}

type Resumed = NonNullable<DestinationSettings['resumed']>

/** As the service has it by default. */
const USUAL_LAST = 50

function factsOf(one: Destination, now: number): readonly Fact[] {
  return [
    ['held by', one.hold && sayHold(one.hold, now)],
    ...KINDS.map((kind): Fact => {
      const hold = one.kindHolds?.[kind]
      return [HELD[kind], hold && sayHold(hold, now)]
    }),
    ['breaker', one.breaker],
    ['credit', one.credit && sayPerKind(one.credit)],
    ['next probe', one.nextProbeAt === undefined ? undefined : sayWhen(one.nextProbeAt, now)],
    ['in flight', sayInFlight(one)],
    ['retry budget', one.budgetBalance === undefined ? undefined : `${one.budgetBalance} may start now`],
    ['backlog', String(one.backlog)],
    ['first due', one.oldestDueAt === undefined ? undefined : sayWhen(one.oldestDueAt, now)],
    ...recentFacts(one.recent),
    ['attempts', `${one.attempts}, of which ${sayShare(one.retryShare)} retries`],
    ['amplification', firstAttempts(one) < ENOUGH_FIRST ? undefined : sayAmplification(one.amplification)],
    ['succeeded', String(one.succeeded)],
    ['exhausted', String(one.exhausted)],
    ['cancelled', String(one.cancelled)],
  ]
}

const HELD = { first: 'first held by', retry: 'retries held by', late: 'late held by' } as const

/** While nothing may begin, how many could at once is how it will come back, and no limit that is in force. */
function sayInFlight({ inFlight, limit, hold }: Destination): string {
  const isShut = hold !== undefined && ['paused', 'kill-switch', 'breaker-open'].includes(hold.reason)
  return `${inFlight}${limit === undefined || isShut ? '' : ` of ${Math.floor(limit)} at once`}`
}

/** What retrying costs now: what there ever was, below, says nothing of this hour. */
function recentFacts(recent: Destination['recent']): readonly Fact[] {
  if (recent === undefined) return []
  return [[`last ${sayMs(recent.windowMs)}`, sayRecent(recent)]]
}

/** Over fewer a multiple says nothing: one first attempt, whose retries and those of older tasks follow, makes it hundreds. */
const ENOUGH_FIRST = 10

function firstAttempts({ attempts, retryShare }: Pick<Destination, 'attempts' | 'retryShare'>): number {
  return Math.round(attempts * (1 - retryShare))
}

function sayRecent(recent: NonNullable<Destination['recent']>): string {
  const { attempts, retryShare, amplification } = recent
  const [sent, first] = [sayCount(attempts, 'attempt'), firstAttempts(recent)]
  if (attempts === 0) return sent
  if (first === 0) return `${sent}, all of them retries: no first attempts`
  if (first < ENOUGH_FIRST) {
    const retries = attempts - first
    return `${sent}: ${sayCount(first, 'first attempt')}, ${retries.toLocaleString('en')} ${retries === 1 ? 'retry' : 'retries'}`
  }
  const load = sayAmplification(amplification)
  return `${sent}, of which ${sayShare(retryShare)} retries${load === undefined ? '' : `; ${load}`}`
}

function sayAmplification(amplification: number | undefined): string | undefined {
  return amplification === undefined ? undefined : `${Number(amplification.toFixed(2))} × the load of first attempts`
}
