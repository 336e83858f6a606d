import { checkPolicy, presets, type PipelinePolicy, type RetryPolicy } from '@secondwind/resilience'
import { existsSync } from 'node:fs'
import { problemsFailure } from '../failure.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { readDocument } from './read-document.ts'

export const POLICY_ARGUMENT = 'a file, JSON as it stands, - for stdin, or the name of a preset'

export const PRESET_NAMES: readonly string[] = Object.keys(presets)

/** The policy with its defaults filled in; one with problems is refused with all of them. */
export async function readPolicy(
  named: string,
  terminal: Pick<Terminal, 'readInput'>,
): Promise<RetryPolicy | PipelinePolicy> {
  const { policy, problems } = checkPolicy(presetOf(named) ?? (await readDocument(named, 'policy', terminal)))
  if (policy !== undefined) return policy
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
  throw problemsFailure({ code: 'invalid-policy', what: `the policy ${shorten(named)} has ${count}` }, problems)
}

/** A file of the same name goes first: it is the user's own. */
function presetOf(named: string): PipelinePolicy | undefined {
  return PRESET_NAMES.includes(named) && !existsSync(named) ? presets[named as keyof typeof presets] : undefined
}

function shorten(named: string): string {
  return named.length > 40 ? `${named.slice(0, 39)}…` : named
}
