/**
 * What no part of a scenario shows by itself: names that lead nowhere, circles, and ends before their beginnings. Asked of any
 * input, so that these problems are told together with those of its shape; what has not the right shape is passed over.
 */
import type { Problem } from '@secondwind/resilience'
import { isRecord, nearestOf } from './shape.ts'

type Fields = { readonly [field: string]: unknown }
type Part = readonly [at: string, fields: Fields]

export function contradictionsIn(input: unknown): Problem[] {
  return isRecord(input) ? [...nameProblems(input), ...circleProblems(input), ...timeProblems(input)] : []
}

/** The objects in a list, or in an object with names, each with its path. */
function partsOf(owner: Fields, field: string, at = ''): Part[] {
  const value = owner[field]
  const entries = Array.isArray(value) ? [...value.entries()] : isRecord(value) ? Object.entries(value) : []
  return entries.flatMap(([name, part]): Part[] => (isRecord(part) ? [[`${at}${field}.${name}`, part]] : []))
}

/** Whatever is called, followed or named must be there. */
function nameProblems(scenario: Fields): Problem[] {
  const { dependencies, pipelines = {} } = scenario
  const clients = partsOf(scenario, 'clients')
  const names = clients.map(([, { name }]) => name)
  const callProblems = ([at, { calls, pipeline }]: Part): Problem[] => [
    ...known(dependencies, 'dependency', calls, `${at}.calls`),
    ...known(pipelines, 'pipeline', pipeline, `${at}.pipeline`),
  ]
  return [
    ...clients.flatMap((client, place) => {
      const [at, { name }] = client
      const isTwice = name !== undefined && names.indexOf(name) < place
      return [...callProblems(client), ...(isTwice ? [{ at: `${at}.name`, is: name, say: 'is there twice' }] : [])]
    }),
    ...partsOf(scenario, 'dependencies').flatMap(([at, dependency]) => {
      const replicas = Object.fromEntries(partsOf(dependency, 'replicas').map(([, { name }]) => [String(name), name]))
      return [
        ...partsOf(dependency, 'downstream', `${at}.`).flatMap(callProblems),
        ...partsOf(dependency, 'troubles', `${at}.`).flatMap(([path, { replica }]) =>
          known(replicas, 'replica', replica, `${path}.replica`),
        ),
      ]
    }),
    ...partsOf(scenario, 'killOrders').flatMap(([at, { pipeline }]) =>
      known(pipelines, 'pipeline', pipeline, `${at}.pipeline`),
    ),
  ]
}

function known(names: unknown, what: string, name: unknown, at: string): Problem[] {
  if (typeof name !== 'string' || !isRecord(names) || Object.hasOwn(names, name)) return []
  const near = nearestOf(name, Object.keys(names))
  return [{ at, is: name, say: `is no ${what} of this scenario${near === undefined ? '' : `; did you mean ${near}?`}` }]
}

/** Nobody may call himself, however far around. */
function circleProblems(scenario: Fields): Problem[] {
  const { dependencies } = scenario
  if (!isRecord(dependencies)) return []
  const below = new Map(
    Object.entries(dependencies).map(([name, dependency]) => [
      name,
      isRecord(dependency) ? partsOf(dependency, 'downstream').map(([, { calls }]) => calls) : [],
    ]),
  )
  return [...below.keys()]
    .filter(name => leadsBack(below, name))
    .map(name => ({
      at: `dependencies.${name}.downstream`,
      is: name,
      say: 'leads back to where it began: calls would never end',
    }))
}

function leadsBack(below: ReadonlyMap<unknown, readonly unknown[]>, start: string): boolean {
  const reached = new Set(below.get(start))
  // A set goes on to what is added to it meanwhile; each name is added once.
  for (const name of reached) for (const next of below.get(name) ?? []) reached.add(next)
  return reached.has(start)
}

function timeProblems(scenario: Fields): Problem[] {
  const { durationMs, warmUpMs } = scenario
  return [
    ...(isNumber(warmUpMs) && isNumber(durationMs) && warmUpMs >= durationMs
      ? [{ at: 'warmUpMs', is: warmUpMs, say: `must be less than durationMs, ${durationMs}` }]
      : []),
    ...partsOf(scenario, 'clients').flatMap(([at, { arrivals }]) =>
      isRecord(arrivals) ? arrivalProblems(arrivals, `${at}.arrivals`) : [],
    ),
    ...partsOf(scenario, 'dependencies').flatMap(([at, dependency]) =>
      partsOf(dependency, 'troubles', `${at}.`).flatMap(([path, trouble]) => spanProblems(trouble, path)),
    ),
  ]
}

function arrivalProblems(arrivals: Fields, at: string): Problem[] {
  switch (arrivals['kind']) {
    case 'spike':
      return spanProblems(arrivals, at)
    case 'ramp':
      return isInOrder(partsOf(arrivals, 'points').map(([, { atMs }]) => atMs))
        ? []
        : [{ at: `${at}.points`, is: 'points', say: 'must be in the order of their instants' }]
    case 'trace':
      return isInOrder(arrivals['atMs']) ? [] : [{ at: `${at}.atMs`, is: 'instants', say: 'must be in their order' }]
    default:
      return []
  }
}

function spanProblems({ fromMs, untilMs }: Fields, at: string): Problem[] {
  return isNumber(fromMs) && isNumber(untilMs) && untilMs <= fromMs
    ? [{ at: `${at}.untilMs`, is: untilMs, say: `must be later than fromMs, ${fromMs}` }]
    : []
}

function isInOrder(values: unknown): boolean {
  if (!Array.isArray(values)) return true
  const numbers = values.filter(isNumber)
  return numbers.every((value, place) => place === 0 || value >= numbers[place - 1]!)
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}
