import type { BudgetPolicy, JitterType } from '@secondwind/resilience'
import type { Answer, Call, Command } from '../command.ts'
import { eachWithoutProblem, usageFailure } from '../failure.ts'
import { listOf, oneOf, optional, readOptions, text, type Reader } from '../input/read-options.ts'
import { POLICY_ARGUMENT, readPolicies } from '../input/read-policy.ts'
import { FILE_READERS } from '../output/picture-options.ts'
import { budgetOf, withBudget, withJitter, type PolicyChange, type PolicyChoice } from './policy-choice.ts'
import { compareVariants, VARIANT_OPTIONS } from './variants.ts'
import { readWorld, SCENARIO_WORDS, WORLD_NAMES, worldProblems } from './world-options.ts'

const JITTERS: readonly JitterType[] = ['NONE', 'EQUAL', 'FULL', 'DECORRELATED', 'PROPORTIONAL']

export const compareCommand: Command = {
  path: ['lab', 'compare'],
  summary: 'policies, jitters or budgets side by side in the same weather',
  arguments: [
    {
      ...POLICY_ARGUMENT,
      usage: '[policy...]',
      say: `${POLICY_ARGUMENT.say} (the scenario's own, or the default; for jitters with 10 attempts)`,
    },
  ],
  options: [
    { flag: '--scenario <scenario>', say: `${SCENARIO_WORDS} (herd for jitters, else outage)`, choices: WORLD_NAMES },
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

async function compare(call: Call): Promise<Answer> {
  const { args, options, terminal } = call
  const readers = {
    scenario: optional(text()),
    jitter: optional(listOf(oneOf(...JITTERS))),
    budget: optional(listOf(namedBudget)),
    ...FILE_READERS,
  }
  const { scenario, jitter, budget } = readOptions(options, readers, worldProblems(options))
  const world = scenario ?? (jitter === undefined ? 'outage' : 'herd')
  const named = await readPolicies((args[0] as readonly string[] | undefined) ?? [], terminal)
  const policies = named.map(({ name, policy }) => ({ name: named.length > 1 ? name : '', choice: { policy } }))
  const all = policies.length > 0 ? policies : [{ name: '', choice: ownChoice(world, jitter !== undefined) }]
  const jittered = eachWith(all, jitter, (one, type) => changedBy(one, withJitter(type), ` ${type}`))
  const choices = eachWith(jittered, budget, (one, other) =>
    changedBy(one, withBudget(other.budget), `, ${other.said}`),
  )
  if (choices.length < 2) throw nothingToCompare()
  const { at, seeds } = await readWorld(world, options, terminal)
  const variants = await eachWithoutProblem(
    choices,
    ({ name }) => name,
    ({ name, choice }) => ({ name, scenario: at(choice) }),
  )
  return compareVariants(variants, { what: 'policy', sayName: name => name, seeds }, call)
}

interface Named {
  /** Empty: nothing tells it from the others yet. */
  readonly name: string
  readonly choice: PolicyChoice
}

/** When nobody names a policy. A herd of clients that give up at once would say nothing about their jitter. */
function ownChoice(world: string, isForJitter: boolean): PolicyChoice {
  return isForJitter && WORLD_NAMES.includes(world) ? { policy: { maxAttempts: 10 } } : {}
}

function eachWith<Other>(
  all: readonly Named[],
  others: readonly Other[] | undefined,
  change: (one: Named, other: Other) => Named,
): readonly Named[] {
  return others === undefined ? all : all.flatMap(one => others.map(other => change(one, other)))
}

function changedBy({ name, choice }: Named, change: PolicyChange, suffix: string): Named {
  return {
    name: `${name}${suffix}`.replace(/^[, ]+/, ''),
    choice: { ...choice, changes: [...(choice.changes ?? []), change] },
  }
}

interface NamedBudget {
  readonly said: string
  readonly budget: BudgetPolicy | false
}

const namedBudget: Reader<NamedBudget> = given => {
  const read = budgetOf(given)
  if ('must' in read) return read
  return { value: { said: read.value === false ? 'no budget' : `budget ${String(given)}`, budget: read.value } }
}

function nothingToCompare(): Error {
  return usageFailure({
    code: 'nothing-to-compare',
    what: 'a comparison needs two',
    because: ['Name two policies, several jitters, or several budgets.'],
    next: compareCommand.examples.map(example => `secondwind ${example}`),
  })
}
