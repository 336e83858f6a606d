import type { PolicyDocument } from '@secondwind/lab'
import { checkPolicy, presets, type PipelinePolicy, type RetryPolicy } from '@secondwind/resilience'
import { check } from '@secondwind/resilience/rules'
import { existsSync } from 'node:fs'
import type { Argument } from '../command.ts'
import { eachWithoutProblem, problemsFailure, usageFailure } from '../failure.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { readDocument } from './read-document.ts'
import { typed } from './typed.ts'

export const PRESET_NAMES: readonly string[] = Object.keys(presets)

export const POLICY_ARGUMENT: Argument = {
  usage: '<policy>',
  say: 'a file, JSON as it stands, - for stdin, or the name of a preset',
  choices: PRESET_NAMES,
}

type Policy = RetryPolicy | PipelinePolicy

/** The policy with its defaults filled in; one with problems is refused with all of them. */
export async function readPolicy(named: string, terminal: Pick<Terminal, 'readInput'>): Promise<Policy> {
  const { policy } = await readPolicyAsTyped(named, terminal)
  return policy
}

export interface TypedPolicy {
  readonly policy: Policy
  /** Without the defaults: other defaults hold in the service. */
  readonly typed: PolicyDocument
}

export async function readPolicyAsTyped(named: string, terminal: Pick<Terminal, 'readInput'>): Promise<TypedPolicy> {
  const document = presetOf(named) ?? (await readDocument(named, { what: 'policy', names: PRESET_NAMES }, terminal))
  const { policy, problems } = checkPolicy(document)
  if (policy !== undefined) return { policy, typed: document as PolicyDocument }
  if (isScenario(document)) throw scenarioFailure(named)
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
  throw problemsFailure({ code: 'invalid-policy', what: `the policy ${shorten(named, 40)} has ${count}` }, problems)
}

/** However much is wrong with it: no policy has clients, or dependencies. */
function isScenario(document: unknown): boolean {
  return check.isRecord(document) && ['clients', 'dependencies'].every(field => Object.hasOwn(document, field))
}

/** Both are JSON in a file, and easily taken for each other. */
function scenarioFailure(named: string): Error {
  return usageFailure({
    code: 'invalid-policy',
    what: `${shorten(named, 40)} is a scenario, and no policy`,
    because: ['A scenario is a world in which policies are tried; those of its clients are in it.'],
    next: [typed(['lab', 'run', named])],
  })
}

/** Several, each with a name that tells it from the others; the problems of all of them are said at once. */
export async function readPolicies(
  named: readonly string[],
  terminal: Pick<Terminal, 'readInput'>,
): Promise<readonly { readonly name: string; readonly policy: Policy }[]> {
  const policies = await eachWithoutProblem(
    named,
    one => shorten(one, MOST_NAME),
    one => readPolicy(one, terminal),
  )
  const names = policies.map((policy, index) => nameOf(named[index]!, policy))
  return policies.map((policy, index) => {
    const before = names.slice(0, index).filter(name => name === names[index]).length
    return { name: before === 0 ? names[index]! : `${names[index]} (${before + 1})`, policy }
  })
}

/** More would leave a table no room for its numbers. */
const MOST_NAME = 24

/** What stands on the command line as a whole goes by the name that it gives itself. */
function nameOf(named: string, policy: Policy): string {
  const ownName = 'retry' in policy ? policy.name : policy.policyId
  return shorten(named.trimStart().startsWith('{') ? (ownName ?? named) : named, MOST_NAME)
}

/** A file of the same name goes first: it is the user's own. */
function presetOf(named: string): PipelinePolicy | undefined {
  return PRESET_NAMES.includes(named) && !existsSync(named) ? presets[named as keyof typeof presets] : undefined
}

/** Of a path the end tells more, of anything else the beginning. */
function shorten(named: string, most: number): string {
  if (named.length <= most) return named
  return named.trimStart().startsWith('{') ? `${named.slice(0, most - 1)}…` : `…${named.slice(1 - most)}`
}
