/** What a simulation would take, at least: refused before it is begun, if no machine has so much. */
import type { Problem } from '@secondwind/resilience'
import { meanOf } from '../chance/draws.ts'
import { callsWithoutRetries } from '../measure/calls-without-retries.ts'
import { capacityOf } from '../measure/measure.ts'
import { sum } from '../measure/totals.ts'
import { grouped } from '../plots/format.ts'
import { isRecord } from './shape.ts'
import { DEFAULT_SCENARIO, type ClientGroup, type Dependency, type PolicyDocument, type Scenario } from './scenario.ts'

/** Two gigabytes: what a process, or a tab, can be expected to get. */
const MOST_BYTES = 2e9
/** A quarter of an hour and more, at a million simulated calls a second. */
const MOST_CALLS = 1e9
const CALLS_PER_HOUR = 3.6e9

/** What can be counted of a scenario: all of it, or those parts that have no other problem. */
interface Countable {
  readonly durationMs: number
  readonly stepMs: number
  readonly drainMs: number
  readonly clients: readonly (readonly [at: string, group: ClientGroup])[]
  readonly dependencies: Scenario['dependencies']
  readonly pipelines: Scenario['pipelines'] & {}
}

/** Asked of any input: what already has a problem is left out, so that all are told together. */
export function sizeProblems(input: unknown, problems: readonly Problem[]): Problem[] {
  const countable = countableIn(input, problems)
  return countable === undefined ? [] : [...memoryProblems(countable), ...callProblems(countable)]
}

const COUNTED_BY = ['durationMs', 'stepMs', 'drainMs', 'clients', 'dependencies']

function countableIn(input: unknown, problems: readonly Problem[]): Countable | undefined {
  const isSoundAlone = (path: string): boolean => !problems.some(({ at }) => at === path)
  const isSound = (path: string): boolean => isSoundAlone(path) && !problems.some(({ at }) => at.startsWith(`${path}.`))
  if (!isRecord(input) || !COUNTED_BY.every(isSoundAlone)) return undefined
  const { clients, dependencies, pipelines = {}, ...times } = input as unknown as Scenario
  const soundOnes = <Entry>(
    of: { readonly [name: string]: Entry },
    field: string,
  ): { readonly [name: string]: Entry } =>
    Object.fromEntries(Object.entries(of).filter(([name]) => isSound(`${field}.${name}`)))
  return {
    ...DEFAULT_SCENARIO,
    ...times,
    clients: clients.map((group, place) => [`clients.${place}`, group] as const).filter(([at]) => isSound(at)),
    dependencies: soundOnes(dependencies, 'dependencies'),
    pipelines: isSoundAlone('pipelines') ? soundOnes(pipelines, 'pipelines') : {},
  }
}

function memoryProblems(countable: Countable): Problem[] {
  const needed = Object.entries(bytesOf(countable))
  if (sum(needed.map(([, bytes]) => bytes)) <= MOST_BYTES) return []
  const [at, bytes] = needed.reduce((most, other) => (other[1] > most[1] ? other : most))
  const { is, advice } = placeOf(countable, at)
  const say = `would need ${sayBytes(bytes)} of memory, and ${sayBytes(MOST_BYTES)} is the most: ${advice}`
  return [{ at, is, say }]
}

/** In bytes, by the path of what asks for them. */
export function memoryOf(scenario: Scenario): { readonly [at: string]: number } {
  return bytesOf(countableIn(scenario, [])!)
}

/** What is kept for each step, for each client and its process, and for each call that waits. */
function bytesOf(countable: Countable): { readonly [at: string]: number } {
  const { clients, dependencies, durationMs, stepMs, drainMs } = countable
  const tiers = Object.values(dependencies).flatMap(({ downstream = [] }) => downstream)
  const lines = clients.length + tiers.length
  const series = lines * LINE_STEP_BYTES + Object.keys(dependencies).length * STATION_STEP_BYTES
  return {
    stepMs: ((durationMs + Math.min(drainMs, durationMs)) / stepMs) * series,
    ...Object.fromEntries(
      clients.flatMap(([at, group]) => [
        [`${at}.count`, clientBytes(group)],
        [`${at}.arrivals`, CALL_BYTES * waitingCalls(group, countable)],
      ]),
    ),
  }
}

function clientBytes({ count = 1, processes = count, pipeline, arrivals }: ClientGroup): number {
  const atOnce = arrivals.kind === 'closed' || arrivals.kind === 'together' ? count : 0
  return atOnce * CALL_BYTES + processes * (pipeline === undefined ? PLACE_BYTES : PROCESS_BYTES)
}

/** Calls of an open load that are under way in the end, because they take so long, or because more come than are served. */
function waitingCalls(group: ClientGroup, { dependencies, pipelines, durationMs }: Countable): number {
  const { arrivals, calls, pipeline } = group
  const dependency = dependencies[calls]
  if (dependency === undefined || arrivals.kind === 'closed' || arrivals.kind === 'together') return 0
  // What gives up, drops or refuses may keep it short, and nobody knows beforehand how short.
  if (dependency.cancels || dependency.queue?.dropsExpired || holdsBack(pipelines[pipeline ?? ''])) return 0
  const asked = operationsOf(group, dependency, durationMs)
  const { servers = Infinity, serviceMs, queue, replicas = [''] } = dependency
  const served = asked * Math.min(1, (meanOf(serviceMs) ?? 0) / durationMs)
  const capacity = ((capacityOf(dependency) ?? Infinity) * durationMs) / 1_000
  const room = (queue?.maxLength ?? Infinity) * replicas.length
  return Math.min(served, servers * replicas.length) + Math.min(room, Math.max(0, asked - capacity))
}

const GATES = ['breaker', 'bulkhead', 'limiter', 'rateLimit', 'throttle']

function holdsBack(document: PolicyDocument | undefined): boolean {
  return document !== undefined && GATES.some(gate => Object.hasOwn(document, gate))
}

/** How many calls it would make if nobody called twice: about what a run costs. */
export function callsOf(scenario: Scenario): number {
  return sum(callsByGroup(countableIn(scenario, [])!).map(({ calls }) => calls))
}

interface GroupCalls {
  readonly at: string
  readonly is: unknown
  readonly calls: number
}

function callsByGroup({ clients, dependencies, durationMs }: Countable): readonly GroupCalls[] {
  return clients.map(([at, group]) => {
    const operations = operationsOf(group, dependencies[group.calls], durationMs)
    const calls = callsWithoutRetries({ clients: [group], dependencies }, () => operations)
    return { at: `${at}.arrivals`, is: group.arrivals, calls: sum([...calls.values()]) }
  })
}

function callProblems(countable: Countable): Problem[] {
  const counted = callsByGroup(countable)
  const total = sum(counted.map(({ calls }) => calls))
  if (total <= MOST_CALLS) return []
  const { at, is } = counted.reduce((most, other) => (other.calls > most.calls ? other : most))
  const said = `would make ${sayAmount(total)} calls, which takes ${sayAmount(total / CALLS_PER_HOUR)} hours or more`
  return [{ at, is, say: `${said}, and ${sayAmount(MOST_CALLS)} is the most: take a shorter time, or fewer calls` }]
}

/** How many operations begin; a closed client begins the next when one has ended, and no faster than they are served. */
function operationsOf(group: ClientGroup, dependency: Dependency | undefined, durationMs: number): number {
  const { arrivals, count = 1 } = group
  const seconds = durationMs / 1_000
  switch (arrivals.kind) {
    case 'poisson':
    case 'constant':
      return arrivals.perSecond * seconds
    case 'spike': {
      const { perSecond, peakPerSecond, fromMs, untilMs } = arrivals
      const lastsMs = Math.max(0, Math.min(untilMs, durationMs) - fromMs)
      return perSecond * seconds + ((peakPerSecond - perSecond) * lastsMs) / 1_000
    }
    case 'ramp':
      return operationsOfRamp(arrivals.points, durationMs)
    case 'trace':
      return arrivals.atMs.length
    case 'together':
      return count
    case 'closed': {
      const roundMs = (meanOf(arrivals.thinkMs) ?? 0) + (dependency ? (meanOf(dependency.serviceMs) ?? 0) : 0)
      const capacity = dependency && capacityOf(dependency)
      return Math.min((count * durationMs) / (roundMs || 1), (capacity ?? Infinity) * seconds)
    }
  }
}

/** Straight lines between the points; before the first and after the last the load stays as it is. */
function operationsOfRamp(points: readonly { atMs: number; perSecond: number }[], durationMs: number): number {
  const [first, last] = [points[0]!, points.at(-1)!]
  const whole = [{ ...first, atMs: 0 }, ...points, { ...last, atMs: Math.max(durationMs, last.atMs) }]
  return sum(
    whole.slice(1).map((to, place) => {
      const from = whole[place]!
      const [lengthMs, seenMs] = [to.atMs - from.atMs, Math.min(to.atMs, durationMs) - from.atMs]
      if (lengthMs <= 0 || seenMs <= 0) return 0
      const end = from.perSecond + ((to.perSecond - from.perSecond) * seenMs) / lengthMs
      return ((from.perSecond + end) / 2) * (seenMs / 1_000)
    }),
  )
}

function placeOf({ clients, stepMs }: Countable, at: string): { readonly is: unknown; readonly advice: string } {
  const [, group] = clients.find(([path]) => at.startsWith(`${path}.`)) ?? []
  if (group === undefined) return { is: stepMs, advice: 'take longer steps' }
  return at.endsWith('.count')
    ? { is: group.count, advice: 'let several clients share a process, or take fewer' }
    : { is: group.arrivals, advice: 'take fewer calls, or a queue with a maxLength' }
}

function sayBytes(bytes: number): string {
  return bytes >= 1e9 ? `${Number((bytes / 1e9).toPrecision(3))} GB` : `${Math.ceil(bytes / 1e6)} MB`
}

function sayAmount(amount: number): string {
  return grouped(Number(amount.toPrecision(2)))
}

/** An event, its place, and a row of each kind. */
const CALL_BYTES = 300
/** Where a process would be, if it called. */
const PLACE_BYTES = 8
/** A budget's window, the states of gates, and what it knows about latencies. */
const PROCESS_BYTES = 1_500
/** Counted in numbers, and handed out in as many more. */
const LINE_STEP_BYTES = 2 * 4 * 8
const STATION_STEP_BYTES = 2 * 8 * 8
