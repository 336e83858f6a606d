/** By which policies the clients of a world go: one for all of them, or the world's own; and what is changed in each. */
import { setAt, withPolicy, type PolicyDocument, type Scenario } from '@secondwind/lab'
import { DEFAULT_BUDGET, type BudgetPolicy, type JitterType, type Problem } from '@secondwind/resilience'
import type { GivenOptions, Option } from '../command.ts'
import { usageFailure } from '../failure.ts'
import { optional, optionProblems, readOptions, text, type Reader } from '../input/read-options.ts'
import { PRESET_NAMES, readPolicyAsTyped } from '../input/read-policy.ts'
import type { Terminal } from '../terminal/terminal.ts'

export interface PolicyChoice {
  /** Absent: every group keeps its own. */
  readonly policy?: PolicyDocument
  /** The same policy without the library's defaults. */
  readonly typed?: PolicyDocument
  readonly changes?: readonly PolicyChange[]
}

/** From a policy, and the name under which the world knows it, to another. */
export type PolicyChange = (policy: PolicyDocument, name: string) => PolicyDocument

export const POLICY_OPTIONS: readonly Option[] = [
  {
    flag: '--policy <policy>',
    say: "a file, JSON, - or a preset; without it the scenario's own, or the defaults",
    choices: PRESET_NAMES,
  },
  {
    flag: '--budget <budget>',
    say: 'instead of the retry budget of every policy by which clients go: 10%, 10/s, or off',
  },
]

/** To be said with what is wrong with all other options of a command. */
export function policyChoiceProblems(given: GivenOptions): readonly Problem[] {
  return optionProblems(given, POLICY_READERS)
}

/** The policy of --policy, or else those of the world, with the budget of --budget. */
export async function readPolicyChoice(given: GivenOptions, terminal: Terminal): Promise<PolicyChoice> {
  const { policy: named, budget } = readOptions(given, POLICY_READERS)
  return {
    ...(named !== undefined && (await readPolicyAsTyped(named, terminal))),
    changes: budget === undefined ? [] : [withBudget(budget)],
  }
}

/** `10%` of the calls, `10/s`, or `off`. */
export const budgetOf: Reader<BudgetPolicy | false> = given => {
  if (given === 'off') return { value: false }
  const [, amount = '', unit] = /^(\d+(?:\.\d+)?)(%|\/s)$/.exec(String(given)) ?? []
  const value = Number(amount)
  if (unit === '/s' && value > 0) return { value: { kind: 'rate', perSecond: value, burst: Math.max(1, value) } }
  if (unit === '%' && value <= 1_000) return { value: { ...DEFAULT_BUDGET, ratio: value / 100 } }
  return { must: 'a share of the calls such as 10%, a rate such as 10/s, or off' }
}

const POLICY_READERS = { policy: optional(text()), budget: optional(budgetOf) }

export function withBudget(budget: BudgetPolicy | false): PolicyChange {
  return (policy, name) => ({ ...('retry' in policy ? policy : { name, retry: policy }), budget })
}

export function withJitter(jitterType: JitterType): PolicyChange {
  return withField('jitterType', jitterType)
}

/** A field of the retry policy by its name alone, and one of any other part by its path: `breaker.openMs`. */
export function withField(path: string, value: unknown): PolicyChange {
  return policy => changed(policy, { path: 'retry' in policy && !path.includes('.') ? `retry.${path}` : path, value })
}

export interface Assignment {
  readonly path: string
  readonly value: unknown
}

/** The document with one value changed, or added; whether it is right is for the check that follows. */
export function changed<Document>(document: Document, { path, value }: Assignment): Document {
  const next = setAt(document, path, value)
  if (next !== undefined) return next as Document
  throw usageFailure({
    code: 'no-such-path',
    what: `${path} leads nowhere`,
    because: ['A path names fields, and entries of lists by their number: clients.0.count'],
  })
}

/** The world in which clients go by the policy of the choice, if it has one. */
export function placed(scenario: Scenario, { policy }: PolicyChoice): Scenario {
  return policy === undefined ? scenario : withPolicy(scenario, policy)
}

/** The world in which every policy by which clients go has been changed; one that a tier shares with them is the same one. */
export function reformed(scenario: Scenario, { changes = [] }: PolicyChoice): Scenario {
  const names = new Set(scenario.clients.flatMap(({ pipeline }) => pipeline ?? []))
  if (names.size === 0) throw nothingToChange()
  const pipelines = Object.entries(scenario.pipelines ?? {}).map(([name, policy]) => {
    return [name, names.has(name) ? changes.reduce((before, change) => change(before, name), policy) : policy] as const
  })
  return { ...scenario, pipelines: Object.fromEntries(pipelines) }
}

function nothingToChange(): Error {
  return usageFailure({
    code: 'missing-option',
    what: 'there is no policy to change',
    because: ['No client of this scenario goes by a policy, so that nothing retries.'],
    next: ['add  --policy userFacing'],
  })
}
