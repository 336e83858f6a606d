import { InvalidPolicyError } from '../errors.ts'
import { inProcessShare } from './decide.ts'
import { checkRetryPolicy, DEFAULT_POLICY, type RetryPolicy, type RetryPolicyInput } from './policy.ts'
import type { Setup } from './setup.ts'

/** A policy ready for use: checked, completed, frozen. */
export interface CompiledPolicy {
  /** The whole document, as it would be handed over. */
  readonly document: RetryPolicy
  /** Its share in this process: what `retry` keeps to. */
  readonly policy: RetryPolicy
  /** What calls without options have in common; made by the first of them. */
  // oxlint-disable-next-line typescript/no-explicit-any
  setup?: Setup<any, never>
}

export function compilePolicy(input: RetryPolicyInput | undefined): CompiledPolicy {
  return input === undefined ? COMPILED_DEFAULT : (findAgain(input) ?? compileAnew(input))
}

const COMPILED_DEFAULT: CompiledPolicy = { document: DEFAULT_POLICY, policy: DEFAULT_POLICY }

/** More than the policies a busy place in a program alternates between; few enough to be looked through. */
const KEPT = 8

const recent: { readonly from: Shape; readonly compiled: CompiledPolicy }[] = []

/**
 * A policy is often a literal in the call, made anew each time. Its compiled form is found again by what is in it,
 * so that it is checked once, and a caller who changes the object later is heeded.
 */
function findAgain(input: RetryPolicyInput): CompiledPolicy | undefined {
  for (let n = 0; n < recent.length; n++) if (recent[n]!.from.isThatOf(input)) return recent[n]!.compiled
  return undefined
}

function compileAnew(input: RetryPolicyInput): CompiledPolicy {
  const checked = checkRetryPolicy(input)
  if (checked.problems !== undefined) throw new InvalidPolicyError(checked.problems)
  const document = frozenCopy(checked.policy)
  const compiled = { document, policy: Object.freeze(inProcessShare(document)) }
  if (recent.length >= KEPT) recent.pop()
  recent.unshift({ from: new Shape(input), compiled })
  return compiled
}

/** What is in an object or a list, all the way down. */
class Shape {
  readonly #isList: boolean
  readonly #fields: readonly string[]
  readonly #values: readonly unknown[]

  constructor(input: object) {
    this.#isList = Array.isArray(input)
    this.#fields = Object.keys(input)
    // What is undefined could be taken for what is not there: no number equals itself then.
    this.#values = Object.values(input).map(value => (isObject(value) ? new Shape(value) : (value ?? NaN)))
  }

  /** As many fields of its own, and each of them the same: then there is no other. What it inherits is not its own. */
  isThatOf(input: unknown): boolean {
    if (!isObject(input) || Array.isArray(input) !== this.#isList) return false
    let found = 0
    // Of all ways to look through an object the one that makes no list, and costs no search for each value.
    for (const field in input) {
      // A literal that is made anew has its fields in the same order.
      const place = field === this.#fields[found] ? found : this.#fields.indexOf(field)
      const value = (input as { readonly [field: string]: unknown })[field]
      const known = this.#values[place]
      if (place < 0 || (value !== known && !(known instanceof Shape && known.isThatOf(value)))) return false
      found++
    }
    return found === this.#fields.length && found === Object.keys(input).length
  }
}

/** A record or a list: a function has no fields either, and is not `{}`. */
function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** All the way down: nobody who is shown a policy can change it for the others. Proxies become what they stand for. */
export function frozenCopy<T>(value: T): T {
  if (!isObject(value)) return value
  const copy: unknown = Array.isArray(value)
    ? value.map(frozenCopy)
    : Object.fromEntries(Object.entries(value).map(([field, part]) => [field, frozenCopy(part)]))
  return Object.freeze(copy) as T
}
