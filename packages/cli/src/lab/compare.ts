import type { JitterType, PipelinePolicy, RetryPolicy } from '@secondwind/resilience'
import type { Answer, Call, Command, Option } from '../command.ts'
import { usageFailure } from '../failure.ts'
import { listOf, oneOf, optional, readOptions, text, type Reader } from '../input/read-options.ts'
import { typed, typedWith } from '../input/typed.ts'
import { POLICY_ARGUMENT, readPolicy } from '../input/read-policy.ts'
import {
  htmlFile,
  PICTURE_OPTIONS,
  REPORT_OPTION,
  svgFile,
  writePicture,
  writeReport,
} from '../output/picture-options.ts'
import { showTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { pictureOf, sayBest, showVariants, tryAll, variantsReport, variantsTable, type Variant } from './variants.ts'
import { budgetOf, readWorld, SCENARIO_ARGUMENT, withBudget, WORLD_NAMES, WORLD_OPTIONS } from './world-options.ts'

const JITTERS: readonly JitterType[] = ['NONE', 'EQUAL', 'FULL', 'DECORRELATED', 'PROPORTIONAL']

/** What every command takes that shows several worlds. */
export const VARIANT_OPTIONS: readonly Option[] = [
  ...WORLD_OPTIONS,
  ...PICTURE_OPTIONS,
  REPORT_OPTION,
  { flag: '--csv', say: 'the table as comma-separated values' },
]

export const compareCommand: Command = {
  path: ['lab', 'compare'],
  summary: 'policies, jitters or budgets side by side in the same weather',
  arguments: [{ usage: '[policy...]', say: `${POLICY_ARGUMENT} (the default; for jitters with 10 attempts)` }],
  options: [
    {
      flag: '--scenario <scenario>',
      say: `${SCENARIO_ARGUMENT} (herd for jitters, else outage)`,
      choices: WORLD_NAMES,
    },
    { flag: '--jitter <types>', say: 'each policy with each of these', choices: JITTERS },
    { flag: '--budget <budgets>', say: 'each policy with each of these: off,10%,10/s' },
    ...VARIANT_OPTIONS,
  ],
  examples: [
    'lab compare --jitter NONE,EQUAL,FULL,DECORRELATED --clients 1000',
    'lab compare userFacing springRetry --scenario outage',
    'lab compare payments.json --budget off,10%',
  ],
  run: compare,
}

interface Named {
  readonly name: string
  readonly policy: RetryPolicy | PipelinePolicy
}

async function compare({ words, args, options, terminal }: Call): Promise<Answer> {
  const { scenario, jitter, budget, svg, html } = readOptions(options, {
    scenario: optional(text()),
    jitter: optional(listOf(oneOf(...JITTERS))),
    budget: optional(listOf(namedBudget)),
    svg: svgFile,
    html: htmlFile,
  })
  const named = args[0] as readonly string[] | undefined
  // A herd of clients that give up at once says nothing about their jitter.
  const standIn = jitter === undefined ? '{}' : '{"maxAttempts":10}'
  const policies = await readPolicies(named ?? [], standIn, terminal)
  const variants = policies
    .flatMap(one => (jitter === undefined ? [one] : jitter.map(type => withJitter(one, type, policies.length > 1))))
    .flatMap(one =>
      budget === undefined
        ? [one]
        : budget.map(other => budgeted(one, other, policies.length > 1 || jitter !== undefined)),
    )
  if (variants.length < 2) throw nothingToCompare()
  const world = scenario ?? (jitter === undefined ? 'outage' : 'herd')
  const { at, seeds } = await readWorld(world, options, terminal)
  const worlds: Variant[] = variants.map(({ name, policy }) => ({ name, scenario: at(policy) }))
  const tried = await tryAll(worlds, seeds, terminal)
  const first = worlds[0]!.scenario
  await writePicture(svg, pictureOf(tried, first), terminal)
  await writeReport(html, () => variantsReport(tried, first, 'policy', typed(words)), terminal)
  const table = variantsTable(tried, 'policy')
  return {
    data: { seeds, variants: tried.map(({ name, readings }) => ({ name, readings })), verdict: sayBest(tried) },
    table,
    show: page => [showVariants(tried, first, page), showTable(table, page)].join('\n\n'),
    verdict: sayBest(tried),
    next: seeds.length === 1 ? [typedWith(words, '--runs', '20')] : [],
  }
}

async function readPolicies(named: readonly string[], standIn: string, terminal: Terminal): Promise<Named[]> {
  if (named.length === 0) return [{ name: 'default', policy: await readPolicy(standIn, terminal) }]
  return Promise.all(named.map(async name => ({ name, policy: await readPolicy(name, terminal) })))
}

function withJitter({ name, policy }: Named, jitterType: JitterType, isOneOfMany: boolean): Named {
  const changed = 'retry' in policy ? { ...policy, retry: { ...policy.retry, jitterType } } : { ...policy, jitterType }
  return { name: isOneOfMany ? `${name} ${jitterType}` : jitterType, policy: changed }
}

function budgeted({ name, policy }: Named, { said, budget }: NamedBudget, isOneOfMany: boolean): Named {
  return { name: isOneOfMany ? `${name}, ${said}` : said, policy: withBudget(policy, budget) }
}

interface NamedBudget {
  readonly said: string
  readonly budget: PipelinePolicy['budget'] & {}
}

const namedBudget: Reader<NamedBudget> = given => {
  const read = budgetOf(given)
  if ('must' in read) return read
  return { value: { said: given === 'off' ? 'no budget' : `budget ${given}`, budget: read.value } }
}

function nothingToCompare(): Error {
  return usageFailure({
    code: 'nothing-to-compare',
    what: 'a comparison needs two',
    because: ['Name two policies, several jitters, or several budgets.'],
    next: compareCommand.examples.map(example => `secondwind ${example}`),
  })
}
