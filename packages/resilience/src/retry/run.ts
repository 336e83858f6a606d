import { COMPILED_DEFAULT, compilePolicy, type CompiledPolicy } from './compile.ts'
import { Operation } from './operation.ts'
import { DEFAULT_SETUP, setUp, type RetryOptions, type Work } from './options.ts'
import type { RetryPolicyInput } from './policy.ts'

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
  return new Promise((resolve, reject) => {
    const compiled = policy === undefined ? COMPILED_DEFAULT : compilePolicy(policy)
    new Operation(work, compiled, options === undefined ? DEFAULT_SETUP : setUp(options), resolve, reject).begin()
  })
}

/** The same with a policy that is compiled already: for the other shells of this package. */
export function retryCompiled<T, A = never>(
  work: Work<T>,
  policy: CompiledPolicy,
  options: RetryOptions<T, A>,
): Promise<T | A> {
  return new Promise((resolve, reject) => {
    new Operation(work, policy, setUp(options), resolve, reject).begin()
  })
}
