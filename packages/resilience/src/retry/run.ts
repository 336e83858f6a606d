import { compilePolicy, type CompiledPolicy } from './compile.ts'
import { Operation } from './operation.ts'
import type { CallOptions, RetryOptions, Work } from './options.ts'
import type { RetryPolicyInput } from './policy.ts'
import { bareSetup, Setup } from './setup.ts'

/**
 * Calls `work` until it succeeds, or until its policy says that it is enough. The caller's word is taken that `work`
 * may be repeated. What is thrown in the end is the last error itself; `historyOf(error)` tells what led to it.
 *
 * By default three attempts, the second within 0.1 s of the first and the third within 0.2 s of the second, each at
 * most 10 s long and all of them 30 s; only failures that are known to pass by themselves are retried, and no more
 * than one call in ten.
 */
export function retry<T, A = never>(
  work: Work<T>,
  policy?: RetryPolicyInput,
  options?: RetryOptions<T, A>,
): Promise<T | A> {
  // Most calls have neither: they need not be looked at, only made.
  if (policy === undefined && options === undefined && typeof work === 'function')
    return begin(work, DEFAULT, undefined)
  try {
    if (typeof work !== 'function') throw new TypeError(`retry calls a function, and was given ${String(work)}`)
    return retryCompiled(work, compilePolicy(policy), options)
  } catch (error) {
    return Promise.reject(error)
  }
}

const DEFAULT = /* @__PURE__ */ bareSetup(/* @__PURE__ */ compilePolicy(undefined))

/** The same with a policy that is compiled already: for the other shells of this package. */
export function retryCompiled<T, A = never>(
  work: Work<T>,
  compiled: CompiledPolicy,
  options?: RetryOptions<T, A>,
): Promise<T | A> {
  return begin<T, A>(work, options === undefined ? bareSetup(compiled) : new Setup(compiled, options), options)
}

/** Begins one operation: `setup` may be shared with others, `call` is its own. */
export function begin<T, A>(work: Work<T>, setup: Setup<T, A>, call: CallOptions | undefined): Promise<T | A> {
  const operation = new Operation<T, A>(work, setup, call)
  const promise = new Promise<T | A>((resolve, reject) => {
    operation.resolve = resolve
    operation.reject = reject
  })
  try {
    operation.begin()
  } catch (error) {
    operation.crash(error)
  }
  return promise
}
