import { checkDeliveryLimits, checkLimits, troubleEndOf } from '@secondwind/lab'
import type { DeliveryLimitCheck, DeliveryLimits, LimitCheck, Limits, PolicyDocument } from '@secondwind/lab'
import type { Answer, Call, Command, GivenOptions } from '../command.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { problemsFailure, usageFailure } from '../failure.ts'
import {
  duration,
  flagOf,
  numberBetween,
  optional,
  readOptions,
  text,
  withDefault,
  type Reader,
  type Values,
} from '../input/read-options.ts'
import { POLICY_ARGUMENT, readPolicyAsTyped } from '../input/read-policy.ts'
import { readsInput, retyped, typed, typedWith } from '../input/typed.ts'
import { CSV_OPTION } from '../output/csv-option.ts'
import { showTable, unsaid, type Table } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { DeliveryChoice } from './delivery-choice.ts'
import { measureDeliveries } from './delivery-trials.ts'
import { estimateCells, estimateColumns } from './estimate-cells.ts'
import { measure } from './trials.ts'
import { OTHER_WORLDS, readAnyWorld, WORLD_OPTIONS, worldProblems, type WorldChoice } from './world-options.ts'
import { DELIVERY_NAMES, SCENARIO_WORDS, WORLD_NAMES } from './world-options.ts'

export const assertCommand: Command = {
  path: ['lab', 'assert'],
  summary: 'hold a policy to its limits: a test for continuous integration',
  arguments: [POLICY_ARGUMENT],
  options: [
    {
      flag: '--scenario <scenario>',
      say: `${SCENARIO_WORDS} (outage); or what the service delivers: delivery-outage and others`,
      choices: [...WORLD_NAMES, ...DELIVERY_NAMES],
    },
    { flag: '--max-amplification <factor>', say: 'calls, as a multiple of what they would be if nobody called twice' },
    { flag: '--max-peak <factor>', say: 'the peak, as a multiple of what it would be then: 2x' },
    { flag: '--min-served <share>', say: 'operations that succeed, or tasks that are delivered: 99%' },
    { flag: '--max-recovery <duration>', say: 'from the end of the trouble until all is well, or the backlog is gone' },
    { flag: '--max-p99 <duration>', say: 'of operations that succeed, or the lateness of tasks that are delivered' },
    { flag: '--max-while-down <count>', say: 'delivery: requests while the destination is down or hangs' },
    { flag: '--max-failed <count>', say: 'delivery: failed attempts a task' },
    ...WORLD_OPTIONS,
    CSV_OPTION,
  ],
  examples: [
    'lab assert payments.json --scenario outage --max-amplification 1.3 --max-peak 2x',
    'lab assert payments.json --scenario delivery-outage --max-recovery 5s --max-while-down 200',
  ],
  run: assertLimits,
}

async function assertLimits(call: Call): Promise<Answer> {
  const { args, options, terminal } = call
  const named = args[0] as string
  const { scenario: world, ...limits } = readOptions(options, readers(), worldProblems(options))
  if (Object.values(limits).every(limit => limit === undefined)) throw nothingAsserted()
  const read = await readPolicyAsTyped(named, terminal)
  const choice = await readAnyWorld(world, options, terminal)
  refuseForeign(world, choice.kind, options)
  const asserted =
    choice.kind === 'delivery'
      ? await assertDelivery(choice, { limits, policy: read.typed }, terminal)
      : await assertCalls(choice, { limits, policy: read.policy, world }, terminal)
  return answerOf(asserted, { named, world }, call)
}

type GivenLimits = Omit<Values<ReturnType<typeof readers>>, 'scenario'>

interface Asserted {
  readonly data: object
  readonly seeds: readonly number[]
  readonly checks: readonly Check[]
}

type Check = LimitCheck | DeliveryLimitCheck

interface Asked {
  readonly limits: GivenLimits
  readonly policy: PolicyDocument
}

async function assertCalls(
  { at, seeds }: WorldChoice,
  { limits: asked, policy, world }: Asked & { readonly world: string },
  terminal: Terminal,
): Promise<Asserted> {
  const scenario = at({ policy })
  const limits: Limits = withoutUndefined({
    maxAmplification: asked.maxAmplification,
    maxPeakTimes: asked.maxPeak,
    minServedShare: asked.minServed,
    maxRecoveryMs: asked.maxRecovery,
    maxP99Ms: asked.maxP99,
  })
  if (limits.maxRecoveryMs !== undefined && troubleEndOf(scenario) === undefined) throw nothingToGetOver(world)
  const { dependency, worlds } = await measure([scenario], { seeds }, terminal)
  const checks = worlds.flatMap(({ readings }) => checkLimits(readings, limits))
  return { data: { policy, scenario, dependency }, seeds, checks }
}

async function assertDelivery(
  { at, seeds }: DeliveryChoice,
  { limits: asked, policy }: Asked,
  terminal: Terminal,
): Promise<Asserted> {
  const scenario = at(policy)
  const limits: DeliveryLimits = withoutUndefined({
    minDeliveredShare: asked.minServed,
    maxRecoveryMs: asked.maxRecovery,
    maxP99Ms: asked.maxP99,
    maxWhileDown: asked.maxWhileDown,
    maxFailedPerTask: asked.maxFailed,
  })
  const { readings } = await measureDeliveries(scenario, seeds, terminal)
  return { data: { policy: scenario.policy, scenario }, seeds, checks: checkDeliveryLimits(readings, limits) }
}

function answerOf(
  { data, seeds, checks }: Asserted,
  { named, world }: { readonly named: string; readonly world: string },
  { words, options }: Call,
): Answer {
  const broken = checks.filter(({ holds }) => !holds)
  const picture = typed(['lab', 'run', world, '--policy', named, ...retyped(options, WORLD_OPTIONS)])
  return {
    data: { ...data, seeds, checks, holds: broken.length === 0 },
    table: dataOf(named, checks, seeds.length),
    show: page => showTable(tableOf(checks), page),
    verdict: sayVerdict(checks, broken),
    next: [
      readsInput(words)
        ? OTHER_WORLDS
        : broken.length === 0 && seeds.length === 1
          ? typedWith(words, '--runs', '20')
          : picture,
    ],
    exitCode: broken.length === 0 ? EXIT_CODES.done : EXIT_CODES.no,
  }
}

/** A limit says nothing about a world that has no such measure. */
const ONLY: { readonly [limit: string]: 'calls' | 'delivery' } = {
  maxAmplification: 'calls',
  maxPeak: 'calls',
  maxWhileDown: 'delivery',
  maxFailed: 'delivery',
}

function refuseForeign(world: string, kind: 'calls' | 'delivery', given: GivenOptions): void {
  const problems = Object.entries(ONLY)
    .filter(([limit, only]) => given[limit] !== undefined && only !== kind)
    .map(([limit, only]) => ({
      at: flagOf(limit),
      is: given[limit],
      say: only === 'calls' ? 'belongs to worlds of callers' : 'belongs to deliveries of the service',
    }))
  if (problems.length > 0)
    throw problemsFailure({ code: 'wrong-option', what: `${world} does not take these options` }, problems)
}

function tableOf(checks: readonly Check[]): Table {
  return {
    columns: ['limit', 'holds', 'measured'].map(name => ({ name })),
    rows: checks.map(({ name, holds, say }) => [name, holds ? 'yes' : 'NO', say]),
  }
}

/** For other programs: one row, and in each of its columns one unit, as where policies are compared. */
function dataOf(policy: string, checks: readonly Check[], runs: number): Table {
  const columns = checks.flatMap(({ measure, limitName }) => [
    ...estimateColumns({ name: measure, field: measure }, runs),
    { name: limitName },
  ])
  const cells = checks.flatMap(({ is, limit }) => [...estimateCells(is, { say: String, runs }), limit])
  return {
    columns: [{ name: 'policy' }, { name: 'holds' }, ...columns],
    rows: [[policy, unsaid(checks.every(({ holds }) => holds)), ...cells]],
  }
}

function sayVerdict(checks: readonly Check[], broken: readonly Check[]): string {
  if (broken.length === 0) return checks.length === 1 ? 'The limit holds.' : `All ${checks.length} limits hold.`
  const which = checks.length === 1 ? 'The limit' : `${broken.length} of ${checks.length} limits`
  const said = broken.map(({ name, say }) => `${name} is ${say}`).join('; ')
  return `${which} ${broken.length === 1 ? 'does' : 'do'} not hold: ${said}.`
}

function withoutUndefined<Values extends object>(values: Values): { readonly [Name in keyof Values]?: number } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    readonly [Name in keyof Values]?: number
  }
}

/** `1.3` or `1.3x`. */
const times: Reader<number> = given => numberBetween(0, 1e9)(String(given).replace(/x$/, ''))

/** `99%` or `0.99`. */
const share: Reader<number> = given => {
  const [, amount, sign] = /^(\d+(?:\.\d+)?)(%?)$/.exec(String(given)) ?? []
  const value = Number(amount) / (sign === '%' ? 100 : 1)
  return value >= 0 && value <= 1 ? { value } : { must: 'a share such as 99%' }
}

function readers() {
  return {
    scenario: withDefault('outage', text()),
    maxAmplification: optional(times),
    maxPeak: optional(times),
    minServed: optional(share),
    maxRecovery: optional(duration(0, 86_400_000)),
    maxP99: optional(duration(0, 86_400_000)),
    maxWhileDown: optional(numberBetween(0, 1e9)),
    maxFailed: optional(numberBetween(0, 1e9)),
  }
}

function nothingAsserted(): Error {
  return usageFailure({
    code: 'nothing-to-assert',
    what: 'there is no limit to hold the policy to',
    because: ['Without a limit every policy would pass.'],
    next: assertCommand.examples.map(example => `secondwind ${example}`),
  })
}

function nothingToGetOver(named: string): Error {
  return usageFailure({
    code: 'nothing-to-assert',
    what: `--max-recovery says nothing about ${named}`,
    because: ['There is no trouble in it that ends while calls still begin, so there is nothing to get over.'],
    next: ['secondwind lab assert payments.json --scenario outage --max-recovery 10s'],
  })
}
