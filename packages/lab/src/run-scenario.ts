import { ResilienceError, type Problem } from '@secondwind/resilience'
import { runWorld } from './engine/run-world.ts'
import type { Counted } from './engine/pipeline.ts'
import { measure } from './measure/measure.ts'
import type { RunResult } from './measure/result.ts'
import { checkScenario } from './scenario/check-scenario.ts'
import type { Scenario } from './scenario/scenario.ts'

export interface RunOptions {
  /** Any whole number: the same one gives the same run. */
  readonly seed?: number
  /** Other ways to count retries, by the names of the pipelines: a rule of your own, or a published one, for comparison. */
  readonly budgets?: { readonly [pipeline: string]: Counted }
}

/** What a scenario comes to: the whole simulator as one pure function. */
export function runScenario(scenario: Scenario, { seed = 1, ...options }: RunOptions = {}): RunResult {
  const { problems: wrong = budgetProblems(scenario, options.budgets) } = checkScenario(scenario)
  const problems = [...wrong, ...seedProblems(seed)]
  if (problems.length > 0) throw new InvalidScenarioError(problems)
  return measure(scenario, seed, runWorld(scenario, { seed, ...options }))
}

export function seedProblems(seed: unknown): Problem[] {
  return Number.isSafeInteger(seed) ? [] : [{ at: 'seed', is: seed, say: 'must be a whole number' }]
}

/** A name that is misspelt would leave the pipeline its own budget, and the comparison would say nothing. */
function budgetProblems({ pipelines = {} }: Scenario, budgets: RunOptions['budgets'] = {}): Problem[] {
  const names = Object.keys(pipelines)
  const say = `must be the name of a pipeline: ${names.join(', ')}`
  return Object.entries(budgets).flatMap(([name, is]) =>
    names.includes(name) ? [] : { at: `budgets.${name}`, is, say },
  )
}

/** Everything that is wrong with a scenario, or with its options; nothing was run. */
export class InvalidScenarioError extends ResilienceError<'invalid-scenario'> {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    const said = problems.map(({ at, say }) => `\n  ${at || 'the scenario'} ${say}`)
    super('invalid-scenario', `the scenario cannot be run:${said.join('')}`)
    this.problems = problems
  }

  override get name(): string {
    return 'InvalidScenarioError'
  }
}
