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
  const document = frozenCopy(checked.policy)
  const compiled = { document, policy: Object.freeze(inProcessShare(document)) }
  if (recent.length >= KEPT) recent.pop()
  recent.unshift({ from: frozenCopy(input), compiled })
  return compiled
}

export const COMPILED_DEFAULT: CompiledPolicy = { document: DEFAULT_POLICY, policy: DEFAULT_POLICY }

/** More than the policies a busy place in a program alternates between; few enough to be looked through. */
const KEPT = 8

const recent: { readonly from: object; readonly compiled: CompiledPolicy }[] = []

function isSame(known: unknown, input: unknown): boolean {
  if (known === input) return true
  if (typeof known !== 'object' || typeof input !== 'object' || known === null || input === null) return false
  if (Array.isArray(known) !== Array.isArray(input)) return false
  let fields = 0
  for (const field in input) {
    // A field that is not there must not be mistaken for one that is undefined, or for what a prototype has.
    if (!Object.hasOwn(known, field)) return false
    fields++
    const mine = (known as Record<string, unknown>)[field]
    const theirs = (input as Record<string, unknown>)[field]
    if (mine !== theirs && !isSame(mine, theirs)) return false
  }
  for (const _ in known) fields--
  return fields === 0
}

/** All the way down: nobody who is shown a policy can change it for the others. Proxies become what they stand for. */
export function frozenCopy<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  const copy: unknown = Array.isArray(value)
    ? value.map(frozenCopy)
    : Object.fromEntries(Object.entries(value).map(([field, part]) => [field, frozenCopy(part)]))
  return Object.freeze(copy) as T
}
