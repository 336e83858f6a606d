import { checkLimits, troubleEndOf, type LimitCheck, type Limits } from '@secondwind/lab'
import type { Answer, Call, Command } from '../command.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { usageFailure } from '../failure.ts'
import {
  duration,
  numberBetween,
  optional,
  readOptions,
  text,
  withDefault,
  type Reader,
} from '../input/read-options.ts'
import { POLICY_ARGUMENT, readPolicy } from '../input/read-policy.ts'
import { readsInput, retyped, typed, typedWith } from '../input/typed.ts'
import { CSV_OPTION } from '../output/csv-option.ts'
import { showTable, unsaid, type Table } from '../terminal/table.ts'
import { estimateCells, estimateColumns } from './estimate-cells.ts'
import { measure } from './trials.ts'
import { OTHER_WORLDS, readWorld, SCENARIO_WORDS, WORLD_NAMES, WORLD_OPTIONS, worldProblems } from './world-options.ts'

export const assertCommand: Command = {
  path: ['lab', 'assert'],
  summary: 'hold a policy to its limits: a test for continuous integration',
  arguments: [POLICY_ARGUMENT],
  options: [
    { flag: '--scenario <scenario>', say: `${SCENARIO_WORDS} (outage)`, choices: WORLD_NAMES },
    { flag: '--max-amplification <factor>', say: 'calls, as a multiple of what they would be if nobody called twice' },
    { flag: '--max-peak <factor>', say: 'the peak, as a multiple of what it would be then: 2x' },
    { flag: '--min-served <share>', say: 'operations that succeed: 99%' },
    { flag: '--max-recovery <duration>', say: 'from the end of the trouble until all is well' },
    { flag: '--max-p99 <duration>', say: 'of operations that succeed' },
    ...WORLD_OPTIONS,
    CSV_OPTION,
  ],
  examples: ['lab assert payments.json --scenario outage --max-amplification 1.3 --max-peak 2x'],
  run: assertLimits,
}

async function assertLimits({ words, args, options, terminal }: Call): Promise<Answer> {
  const given = args[0] as string
  const readers = {
    scenario: withDefault('outage', text()),
    maxAmplification: optional(times),
    maxPeak: optional(times),
    minServed: optional(share),
    maxRecovery: optional(duration(0, 86_400_000)),
    maxP99: optional(duration(0, 86_400_000)),
  }
  const { scenario: named, ...asked } = readOptions(options, readers, worldProblems(options))
  const limits: Limits = Object.fromEntries(
    Object.entries({
      maxAmplification: asked.maxAmplification,
      maxPeakTimes: asked.maxPeak,
      minServedShare: asked.minServed,
      maxRecoveryMs: asked.maxRecovery,
      maxP99Ms: asked.maxP99,
    }).filter(([, limit]) => limit !== undefined),
  )
  if (Object.keys(limits).length === 0) throw nothingAsserted()
  const policy = await readPolicy(given, terminal)
  const { at, seeds } = await readWorld(named, options, terminal)
  const scenario = at({ policy })
  if (limits.maxRecoveryMs !== undefined && troubleEndOf(scenario) === undefined) throw nothingToGetOver(named)
  const { dependency, worlds } = await measure([scenario], { seeds }, terminal)
  const checks = checkLimits(worlds[0]!.readings, limits)
  const broken = checks.filter(({ holds }) => !holds)
  const picture = typed(['lab', 'run', named, '--policy', given, ...retyped(options, WORLD_OPTIONS)])
  return {
    data: { policy, scenario, seeds, dependency, checks, holds: broken.length === 0 },
    table: dataOf(given, checks, seeds.length),
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

function tableOf(checks: readonly LimitCheck[]): Table {
  return {
    columns: ['limit', 'holds', 'measured'].map(name => ({ name })),
    rows: checks.map(({ name, holds, say }) => [name, holds ? 'yes' : 'NO', say]),
  }
}

/** For other programs: one row, and in each of its columns one unit, as where policies are compared. */
function dataOf(policy: string, checks: readonly LimitCheck[], runs: number): Table {
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

function sayVerdict(checks: readonly LimitCheck[], broken: readonly LimitCheck[]): string {
  if (broken.length === 0) return checks.length === 1 ? 'The limit holds.' : `All ${checks.length} limits hold.`
  const which = checks.length === 1 ? 'The limit' : `${broken.length} of ${checks.length} limits`
  const said = broken.map(({ name, say }) => `${name} is ${say}`).join('; ')
  return `${which} ${broken.length === 1 ? 'does' : 'do'} not hold: ${said}.`
}

/** `1.3` or `1.3x`. */
const times: Reader<number> = given => numberBetween(0, 1e9)(String(given).replace(/x$/, ''))

/** `99%` or `0.99`. */
const share: Reader<number> = given => {
  const [, amount, sign] = /^(\d+(?:\.\d+)?)(%?)$/.exec(String(given)) ?? []
  const value = Number(amount) / (sign === '%' ? 100 : 1)
  return value >= 0 && value <= 1 ? { value } : { must: 'a share such as 99%' }
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
