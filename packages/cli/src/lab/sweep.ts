import type { Scenario } from '@secondwind/lab'
import type { Answer, Call, Command } from '../command.ts'
import { eachWithoutProblem, usageFailure } from '../failure.ts'
import { readOptions, type Reader } from '../input/read-options.ts'
import { FILE_READERS } from '../output/picture-options.ts'
import { POLICY_OPTIONS, policyChoiceProblems, readPolicyChoice, withField } from './policy-choice.ts'
import { compareVariants, VARIANT_OPTIONS } from './variants.ts'
import { jsonOr, readWorld, SCENARIO_ARGUMENT, worldProblems } from './world-options.ts'

export const sweepCommand: Command = {
  path: ['lab', 'sweep'],
  summary: 'one parameter, many values',
  arguments: [SCENARIO_ARGUMENT],
  options: [
    {
      flag: '--vary <path=values>',
      say: 'policy.maxAttempts=1..8, or a path of the scenario and a list: durationMs=1,2',
    },
    ...POLICY_OPTIONS,
    ...VARIANT_OPTIONS,
  ],
  examples: ['lab sweep --vary policy.maxAttempts=1..8 --budget off', 'lab sweep herd --vary clients.0.count=100,1000'],
  run: sweep,
}

async function sweep(call: Call): Promise<Answer> {
  const { args, options, terminal } = call
  if (options['vary'] === undefined) throw nothingToVary()
  const problems = [...policyChoiceProblems(options), ...worldProblems(options)]
  const { vary } = readOptions(options, { vary: variation, ...FILE_READERS }, problems)
  const named = (args[0] as string | undefined) ?? 'outage'
  const choice = await readPolicyChoice(options, terminal)
  const { at, seeds } = await readWorld(named, options, terminal)
  const ofPolicy = /^policy\.(.+)$/s.exec(vary.path)?.[1]
  const withValue = (value: unknown): Scenario =>
    ofPolicy === undefined
      ? at(choice, { path: vary.path, value })
      : at({ ...choice, changes: [...(choice.changes ?? []), withField(ofPolicy, value)] })
  const variants = await eachWithoutProblem(vary.values, sayValue, value => ({
    name: sayValue(value),
    scenario: withValue(value),
  }))
  const what = ofPolicy ?? vary.path
  return compareVariants(variants, { what, sayName: name => `${what} ${name}`, seeds }, call)
}

function sayValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

interface Variation {
  readonly path: string
  readonly values: readonly unknown[]
}

/** More would be a picture nobody reads. */
const MOST_VALUES = 200

/** `path=1..8` or `path=a,b,c`. */
const variation: Reader<Variation> = given => {
  const [, path, values = ''] = /^([^=]+)=(.+)$/s.exec(String(given)) ?? []
  if (path === undefined) return { must: 'a path and its values, such as policy.maxAttempts=1..8' }
  const [, from, to] = /^(\d+)\.\.(\d+)$/.exec(values) ?? []
  if (from === undefined) return { value: { path, values: values.split(',').map(jsonOr) } }
  const count = Number(to) - Number(from) + 1
  if (!(count >= 1 && count <= MOST_VALUES)) return { must: `a range of 1 to ${MOST_VALUES} values` }
  return { value: { path, values: Array.from({ length: count }, (_, index) => Number(from) + index) } }
}

function nothingToVary(): Error {
  return usageFailure({
    code: 'missing-option',
    what: 'there is nothing to vary',
    because: ['--vary names a path and its values.'],
    next: sweepCommand.examples.map(example => `secondwind ${example}`),
  })
}
