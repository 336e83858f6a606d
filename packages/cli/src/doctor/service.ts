/** A running service, as far as it can be seen from here. */
import {
  ServiceError,
  UnreachableError,
  type Client,
  type ControlLevel,
  type Destination,
  type PolicyVersion,
} from '@secondwind/client'
import type { Clock } from '@secondwind/resilience'
import { checkProduction, sayMs } from '@secondwind/lab'
import { holdsOf, sayGate, sayProbes } from '../destinations/say-gates.ts'
import { stormOf } from '../destinations/storm.ts'
import { documentOf } from '../policies/document.ts'
import { isNear } from '../remote/connection.ts'
import { readItems } from '../remote/listing.ts'
import { isMadeUp, speaksNoTls } from '../remote/service-failure.ts'
import { ofTenant } from '../remote/whose.ts'
import { bad, ok, warn, type Finding } from './finding.ts'
import { checkSwitches } from './switches.ts'

export interface Examined {
  readonly client: Client
  readonly url: string
  readonly hasKey: boolean
  /** It is no harm that nothing answers: asked was whether one could be started. */
  readonly mayBeAhead: boolean
  readonly clock: Clock
  /** Of this program. */
  readonly version: string
  readonly typed: (...words: readonly string[]) => string
}

/** All that can be asked of it; of one that does not answer, only that. */
export async function checkService(
  examined: Examined,
): Promise<{ readonly findings: readonly Finding[]; readonly instance?: string }> {
  const { client, url, clock } = examined
  const askedAt = clock.now()
  try {
    const { version, answeredAt, instance } = await client.health()
    const skewMs = answeredAt - (askedAt + clock.now()) / 2
    const findings = [
      ok('service', `It answers at ${url}.`),
      checkVersion(version, examined.version),
      checkClock(skewMs),
      ...checkKey(examined),
      await checkReadiness(examined),
      ...(await checkWork(examined)),
    ]
    return { findings, instance }
  } catch (error) {
    return { findings: [noAnswer(error, examined)] }
  }
}

function noAnswer(error: unknown, { url, mayBeAhead }: Examined): Finding {
  const next = 'secondwind serve, or say where it is: --url or SECONDWIND_URL'
  if (error instanceof UnreachableError && speaksNoTls(error))
    return bad(
      'service',
      `What listens at ${url} does not speak TLS.`,
      'perhaps it is at http://: --url or SECONDWIND_URL',
    )
  if (error instanceof UnreachableError && mayBeAhead)
    return warn('service', `Nothing answers at ${url}: no service runs with these settings yet.`, next)
  if (error instanceof UnreachableError) return bad('service', `Nothing answers at ${url}.`, next)
  if (error instanceof ServiceError && error.code === 'unexpected-answer')
    return bad('service', `What answers at ${url} is not a Secondwind service.`, next)
  if (error instanceof ServiceError)
    return bad('service', `What answers at ${url} says ${error.status} ${error.code}: ${error.detail}`, next)
  if (isMadeUp(error))
    return bad(
      'service',
      `What ${url} answers cannot be read: it is no Secondwind service, or one of another version.`,
      next,
    )
  throw error
}

export function checkVersion(service: string, own: string): Finding {
  return service === own
    ? ok('version', `It is ${service}, as this program is.`)
    : warn('version', `It is ${service}, and this program ${own}.`, `npx secondwind@${service} …`)
}

const WRONG_CLOCK_MS = 30_000
const LOOSE_CLOCK_MS = 2_000

/** A deadline of the caller's is an instant: on a clock that is wrong it is another one. */
export function checkClock(skewMs: number): Finding {
  const size = Math.abs(skewMs)
  const say = `Its clock is ${sayMs(Math.round(size))} ${skewMs < 0 ? 'behind' : 'ahead of'} the one here.`
  const next = 'set both by NTP: deadlines and times are instants'
  if (size >= WRONG_CLOCK_MS) return bad('clock', say, next)
  return size >= LOOSE_CLOCK_MS ? warn('clock', say, next) : ok('clock', 'Its clock agrees with the one here.')
}

/** A key that anybody on the way can read is everybody's. */
function checkKey({ url, hasKey }: Examined): readonly Finding[] {
  if (!hasKey || isNear(url) || new URL(url).protocol === 'https:') return []
  return [bad('key', 'Your key goes over the network as plain text.', 'use https: a proxy in front can speak it')]
}

async function checkReadiness({ client, typed }: Examined): Promise<Finding> {
  const readiness = await client.readiness()
  if (!readiness.isReady) return bad('ready', readiness.because, 'docs/operations.md says what to do about each')
  const skewMs = Math.abs(readiness.clockSkewMs)
  if (skewMs >= LOOSE_CLOCK_MS)
    return warn(
      'ready',
      `It works, but its machine's clock has gone ${sayMs(skewMs)} from its store's.`,
      'look at NTP there',
    )
  const off = await switchedOff(client)
  return off.length === 0
    ? ok('ready', 'It can take tasks in, and send them.')
    : warn('ready', `It works, but a kill switch keeps it from ${off.join(' and ')}.`, typed('kill', 'status'))
}

const KEPT_FROM: { readonly [level in ControlLevel]?: string } = {
  'dispatch-off': 'sending tasks',
  'intake-off': 'taking tasks in',
}

/** What is switched off for everything; nothing where nobody may ask, which is told where it is asked. */
async function switchedOff(client: Client): Promise<readonly string[]> {
  try {
    const { controls } = await client.controls.state()
    const levels = new Set(controls.flatMap(({ level, scope }) => (scope.kind === 'all' ? [level] : [])))
    return [...levels].flatMap(level => KEPT_FROM[level] ?? [])
  } catch (error) {
    if (error instanceof ServiceError) return []
    throw error
  }
}

/** More than that nobody reads, and a page is enough to see that something is wrong. */
const MOST = 200
/** An outage may be of the last one: as many as are read within a second or two. */
const MOST_DESTINATIONS = 5_000

async function checkWork(examined: Examined): Promise<readonly Finding[]> {
  const { client, clock, typed } = examined
  try {
    const { items: policies } = await readItems(client.policies.list(), MOST)
    const { items: destinations, nextCursor } = await readItems(client.destinations.list(), MOST_DESTINATIONS)
    const { items: set } = await readItems(client.destinations.list({ hasSettings: true }), MOST)
    const { items: controls } = await readItems(client.controls.list(), MOST)
    const now = clock.now()
    return [
      ...(await checkSwitches({ controls, destinations: eachOnce([...destinations, ...set]) }, examined)),
      ...checkPolicies(policies, typed),
      ...checkDestinations(destinations, now, typed),
      ...(nextCursor === undefined ? [] : [unseen(typed)]),
    ]
  } catch (error) {
    if (!(error instanceof ServiceError) || (error.status !== 401 && error.status !== 403)) throw error
    return [bad('key', `It does not let you look: ${error.detail}`, 'export SECONDWIND_KEY="$(cat your-key-file)"')]
  }
}

function unseen(typed: Examined['typed']): Finding {
  const next = typed('destinations', 'list', '--limit', '10000')
  return warn('destinations', `There are more than ${MOST_DESTINATIONS}: only these were looked at.`, next)
}

/** One that has had tasks, and was paused, is in both lists. */
function eachOnce(destinations: readonly Destination[]): readonly Destination[] {
  return [...new Map(destinations.map(one => [`${one.tenant} ${one.destination}`, one])).values()]
}

/** By the lab's checklist, as far as a policy alone shows it. */
export function checkPolicies(policies: readonly PolicyVersion[], typed: Examined['typed']): readonly Finding[] {
  const findings = policies.flatMap(policy => {
    const { policyId, version } = policy
    const points = checkProduction(documentOf(policy))
    if ('problems' in points)
      return [
        bad(
          'policies',
          `${policyId}@${version} is no policy that this program knows.`,
          typed('policies', 'get', policyId),
        ),
      ]
    const open = points.filter(({ verdict }) => verdict === 'not-met')
    if (open.length === 0) return []
    const because = open.map(({ because: why }) => why).join('; ')
    const next = `${typed('policies', 'get', policyId, '--document')} | secondwind lab explain -`
    return [warn('policies', `${policyId}@${version}: ${because}.`, next)]
  })
  return findings.length > 0
    ? findings
    : [ok('policies', `${policies.length} ${policies.length === 1 ? 'keeps' : 'keep'} to the checklist.`)]
}

/** A destination that is down delays its own tasks; a minute of it is worth a look. */
const LATE_MS = 60_000

export function checkDestinations(
  destinations: readonly Destination[],
  now: number,
  typed: Examined['typed'],
): readonly Finding[] {
  // What waits behind it is late before a minute is over.
  const broken = destinations.filter(({ breaker, backlog }) => breaker === 'open' && backlog > 0)
  const late = destinations.filter(one => now - (one.oldestDueAt ?? now) >= LATE_MS && !broken.includes(one))
  const dead = destinations.reduce((all, { exhausted }) => all + exhausted, 0)
  const storm = stormOf(destinations, now)
  return [
    ...broken.map(one => warn('breaker', sayBroken(one, now), typed('destinations', 'get', one.destination))),
    ...late.map(one => warn('late tasks', sayLate(one, now), typed('destinations', 'get', one.destination))),
    ...(late.length === 0 ? [ok('late tasks', 'No task has been due for a minute.')] : []),
    ...(storm === undefined ? [] : [warn('retries', storm.say, typed('destinations', 'get', storm.destination))]),
    dead === 0
      ? ok('dead letters', 'There are none.')
      : warn('dead letters', `${dead} ${dead === 1 ? 'task was' : 'tasks were'} given up.`, typed('dead', 'causes')),
  ]
}

function sayBroken(one: Destination, now: number): string {
  const { destination, tenant, backlog } = one
  const gate = holdsOf(one).find(({ reason, everyMs }) => reason === 'breaker-open' && everyMs !== undefined)
  const probes = gate === undefined ? '' : `: ${sayProbes(gate, now)}`
  return `The breaker of ${destination}${ofTenant({ tenant })} is open${probes}. ${backlog} ${backlog === 1 ? 'waits' : 'wait'} for it.`
}

function sayLate(one: Destination, now: number): string {
  const { destination, tenant, backlog, oldestDueAt = now } = one
  const gate = sayGate(one)
  return `${backlog}${ofTenant({ tenant })} ${backlog === 1 ? 'waits' : 'wait'} for ${destination}, the first for ${sayMs(now - oldestDueAt)}${gate === '' ? '' : `, held by ${gate}`}.`
}
