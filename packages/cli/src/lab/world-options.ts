import { checkScenario, DELIVERIES, herdWorld, outageWorld, WORKED_CASES, type Scenario } from '@secondwind/lab'
import { checkPolicy, type Problem } from '@secondwind/resilience'
import { dirname } from 'node:path'
import type { Argument, GivenOptions, Option } from '../command.ts'
import { problemsFailure, usageFailure } from '../failure.ts'
import { isPath, readDocument } from '../input/read-document.ts'
import {
  duration,
  flagOf,
  numberBetween,
  optional,
  optionProblems,
  perSecond,
  readOptions,
  wholeNumber,
  withDefault,
} from '../input/read-options.ts'
import type { Reader } from '../input/read-options.ts'
import { typed } from '../input/typed.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { deliveryChoice, isDelivery, notForDeliveries, type DeliveryChoice } from './delivery-choice.ts'
import { withTraces } from './trace-files.ts'
import { changed, placed, reformed, type Assignment, type PolicyChoice } from './policy-choice.ts'

/** What every command takes that runs a scenario. */
export const WORLD_OPTIONS: readonly Option[] = [
  { flag: '--load <rate>', say: 'outage: calls a second (300/s)' },
  { flag: '--outage <duration>', say: 'outage: how long every call fails (12s)' },
  { flag: '--processes <count>', say: 'outage: how many share the load, each with its own budget (3)' },
  { flag: '--clients <count>', say: 'herd: how many call at once (1000)' },
  { flag: '--capacity <rate>', say: 'what the dependency can serve (outage 500/s, herd 200/s)' },
  { flag: '--scale <share>', say: 'case: load and capacity, as a share of those that are told (0.1)' },
  { flag: '--set <path=value>', say: 'change the scenario: durationMs=60000;stepMs=500' },
  { flag: '--seed <number>', say: 'the first seed (1)' },
  { flag: '--runs <count>', say: 'how many seeds, one after another (1)' },
]

export const WORLD_NAMES: readonly string[] = ['outage', 'herd']
export const DELIVERY_NAMES: readonly string[] = Object.keys(DELIVERIES)
const NAMES: readonly string[] = [...WORLD_NAMES, ...WORKED_CASES.map(({ name }) => name), ...DELIVERY_NAMES]
export const SCENARIO_WORDS = 'outage, herd, a case and its variant (shop/no retries), or a file (docs/scenarios.md)'
/** Where none is named it is an outage. */
export const SCENARIO_ARGUMENT: Argument = {
  usage: '[scenario]',
  say: `${SCENARIO_WORDS} (outage)`,
  choices: WORLD_NAMES,
}
/** For commands that know deliveries of the service, too. */
export const ANY_SCENARIO_ARGUMENT: Argument = {
  usage: '[scenario]',
  say: `${SCENARIO_WORDS} (outage); or what the service delivers: ${DELIVERY_NAMES.join(', ')}`,
  choices: [...WORLD_NAMES, ...DELIVERY_NAMES],
}

/** What to try next where the same world cannot be had again: it came from stdin. */
export const OTHER_WORLDS: string = typed(['lab', 'cases', '--list'])

export interface WorldChoice {
  readonly kind: 'calls'
  /** The world with these policies, then with what --set changes in it, and at last with these changes. */
  readonly at: (choice: PolicyChoice, ...changes: readonly Assignment[]) => Scenario
  readonly seeds: readonly number[]
}

/** To be said with what is wrong with all other options of a command. */
export function worldProblems(given: GivenOptions): readonly Problem[] {
  return optionProblems(given, WORLD_READERS)
}

/** A world of callers, for commands that know no other. */
export async function readWorld(named: string, given: GivenOptions, terminal: Terminal): Promise<WorldChoice> {
  const choice = await readAnyWorld(named, given, terminal)
  if (choice.kind === 'delivery') throw notForDeliveries(named)
  return choice
}

export async function readAnyWorld(
  named: string,
  given: GivenOptions,
  terminal: Terminal,
): Promise<WorldChoice | DeliveryChoice> {
  const { load, outage, processes, clients, capacity, seed, runs, set, scale } = readOptions(given, WORLD_READERS)
  refuseForeign(named, given)
  const seeds = Array.from({ length: runs }, (_, index) => seed + index)
  const document = WORLD_NAMES.includes(named)
    ? undefined
    : (deliveryNamed(named) ?? caseVariant(named, scale) ?? (await readScenario(named, terminal)))
  if (isDelivery(document)) return deliveryChoice({ named, document, set: set ?? [], seeds, given })
  const world = (choice: PolicyChoice): unknown => {
    const { policy = {} } = choice
    if (named === 'outage')
      return outageWorld({
        loadPerSecond: load ?? 300,
        capacityPerSecond: capacity ?? 500,
        outageMs: outage ?? 12_000,
        processes: processes ?? 3,
        policy,
      })
    if (named === 'herd') return herdWorld({ clients: clients ?? 1_000, capacityPerSecond: capacity ?? 200, policy })
    return choice.policy === undefined ? document : placed(checked(named, document), choice)
  }
  return {
    kind: 'calls',
    at: (choice, ...changes) => {
      const own = (set ?? []).reduce(changed, world(choice))
      const formed = choice.changes?.length ? reformed(checked(named, own), choice) : own
      return checked(named, changes.reduce(changed, formed))
    },
    seeds,
  }
}

/** With the traces that it names; from stdin or the command line they are looked for here. */
async function readScenario(named: string, terminal: Terminal): Promise<unknown> {
  const read = await readDocument(named, { what: 'scenario', names: NAMES }, terminal)
  const { document, problems } = await withTraces(read, isPath(named) ? dirname(named) : '.')
  if (problems.length === 0) return document
  throw wrongScenario(named, [...problems, ...(checkScenario(document).problems ?? [])])
}

function deliveryNamed(named: string): unknown {
  return Object.hasOwn(DELIVERIES, named) ? DELIVERIES[named] : undefined
}

/** `shop/no retries`: one of the ways to deal with one of the worked cases. */
function caseVariant(named: string, scale: number): Scenario | undefined {
  const [name, ...rest] = named.split('/')
  const variants = WORKED_CASES.find(one => one.name === name)?.variants(scale)
  if (variants === undefined) return undefined
  const found = variants[rest.join('/')]
  if (found !== undefined) return found
  throw usageFailure({
    code: 'unknown-name',
    what: rest.length === 0 ? `${name} is a case with variants: name one of them` : `${name} has no such variant`,
    because: [`Its variants are: ${Object.keys(variants).join(', ')}.`],
    next: Object.keys(variants).map(variant => typed(['lab', 'run', `${name}/${variant}`])),
  })
}

/** Flags that belong to one of the worlds say nothing about another. */
const OWNERS: { readonly [name: string]: readonly string[] } = {
  load: ['outage'],
  outage: ['outage'],
  processes: ['outage'],
  clients: ['herd'],
  capacity: ['outage', 'herd'],
  scale: ['worked cases'],
}

function refuseForeign(named: string, given: GivenOptions): void {
  const kind = WORKED_CASES.some(({ name }) => name === named.split('/')[0]) ? 'worked cases' : named
  const problems = Object.entries(OWNERS)
    .filter(([name, owners]) => given[name] !== undefined && !owners.includes(kind))
    .map(([name, owners]) => ({ at: flagOf(name), is: given[name], say: `belongs to ${owners.join(' and ')}` }))
  if (problems.length > 0)
    throw problemsFailure({ code: 'wrong-option', what: `${named} does not take these options` }, problems)
}

function checked(named: string, document: unknown): Scenario {
  const { scenario, problems } = checkScenario(document)
  if (scenario !== undefined) return scenario
  if (checkPolicy(document).policy !== undefined) throw isPolicy(named)
  throw wrongScenario(named, problems)
}

function wrongScenario(named: string, problems: readonly Problem[]): Error {
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
  return problemsFailure({ code: 'invalid-scenario', what: `the scenario ${named} has ${count}` }, problems)
}

/** Both are JSON in a file, and easily taken for each other. */
function isPolicy(named: string): Error {
  return usageFailure({
    code: 'invalid-scenario',
    what: `${named} is a policy, and no scenario`,
    because: ['A policy is tried in a scenario: in an outage, unless another is named.'],
    next: [typed(['lab', 'run', '--policy', named])],
  })
}

/** `path=value`, several apart by semicolons; the value is JSON, or else a text. */
const assignments: Reader<readonly Assignment[]> = given => {
  const read = String(given)
    .split(';')
    .map(word => /^([^=]+)=(.*)$/s.exec(word.trim()))
  return read.some(found => found === null)
    ? { must: 'a path and a value, such as durationMs=60000' }
    : { value: read.map(found => ({ path: found![1]!, value: jsonOr(found![2]!) })) }
}

const WORLD_READERS = {
  load: optional(perSecond()),
  outage: optional(duration(1, 86_400_000)),
  processes: optional(wholeNumber(1, 1e6)),
  clients: optional(wholeNumber(1, 1e9)),
  capacity: optional(perSecond()),
  seed: withDefault(1, wholeNumber(0, Number.MAX_SAFE_INTEGER)),
  runs: withDefault(1, wholeNumber(1, 10_000)),
  set: optional(assignments),
  scale: withDefault(0.1, numberBetween(0.001, 1)),
}

export function jsonOr(value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    // Words need no quotes on a command line.
    return value
  }
}
