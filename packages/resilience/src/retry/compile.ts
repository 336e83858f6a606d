import { InvalidPolicyError } from '../errors.ts'
import { inProcessShare } from './decide.ts'
import { checkRetryPolicy, DEFAULT_POLICY, type RetryPolicy, type RetryPolicyInput } from './policy.ts'

/** A policy ready for use: checked, completed, frozen. */
export interface CompiledPolicy {
  /** The whole document, as it would be handed over. */
  readonly document: RetryPolicy
  /** Its share in this process: what `retry` keeps to. */
  readonly policy: RetryPolicy
}

/**
 * A policy is often a literal in the call, made anew each time. Its compiled form is found again by what is in it,
 * so that it is checked once, and a caller who changes the object later is heeded.
 */
export function compilePolicy(input: RetryPolicyInput): CompiledPolicy {
  for (const { from, compiled } of recent) if (isSame(from, input)) return compiled
  const checked = checkRetryPolicy(input)
  if (checked.problems !== undefined) throw new InvalidPolicyError(checked.problems)
  const document = Object.freeze(structuredClone(checked.policy))
  const compiled = { document, policy: Object.freeze(inProcessShare(document)) }
  if (recent.length >= KEPT) recent.pop()
  recent.unshift({ from: structuredClone(input), compiled })
  return compiled
}

export const COMPILED_DEFAULT: CompiledPolicy = { document: DEFAULT_POLICY, policy: DEFAULT_POLICY }

/** More than the policies a busy place in a program alternates between; few enough to be looked through. */
const KEPT = 8

const recent: { readonly from: object; readonly compiled: CompiledPolicy }[] = []

function isSame(known: unknown, input: unknown): boolean {
  if (known === input) return true
  if (typeof known !== 'object' || typeof input !== 'object' || known === null || input === null) return false
  let fields = 0
  for (const field in input) {
    fields++
    const mine = (known as Record<string, unknown>)[field]
    const theirs = (input as Record<string, unknown>)[field]
    if (mine !== theirs && !isSame(mine, theirs)) return false
  }
  for (const _ in known) fields--
  return fields === 0
}
