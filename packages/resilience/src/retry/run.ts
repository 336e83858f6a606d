import { COMPILED_DEFAULT, compilePolicy, type CompiledPolicy } from './compile.ts'
import { Operation } from './operation.ts'
import type { RetryOptions, Work } from './options.ts'
import type { RetryPolicyInput } from './policy.ts'
import { DEFAULT_SETUP, Setup } from './setup.ts'

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
  try {
    if (typeof work !== 'function') throw new TypeError(`retry calls a function, and was given ${String(work)}`)
    return retryCompiled(work, policy === undefined ? COMPILED_DEFAULT : compilePolicy(policy), options)
  } catch (error) {
    return Promise.reject(error)
  }
}

/** The same with a policy that is compiled already: for the other shells of this package. */
export function retryCompiled<T, A = never>(
  work: Work<T>,
  compiled: CompiledPolicy,
  options?: RetryOptions<T, A>,
): Promise<T | A> {
  // Before the promise: a getter among the options may begin an operation of its own.
  const setup: Setup<T, A> = options === undefined ? DEFAULT_SETUP : new Setup(options)
  const promise = new Promise<T | A>(keepSettlers)
  const operation = new Operation<T, A>(work, compiled, setup, resolveLast, rejectLast)
  // Whatever stays here would keep the newest result from being collected.
  resolveLast = rejectLast = nobody
  try {
    operation.begin()
  } catch (error) {
    operation.crash(error)
  }
  return promise
}

/** One executor for all: a closure for each call would be the largest thing that a quick call allocates. */
const nobody = (): void => {}
let resolveLast: (value: unknown) => void = nobody
let rejectLast: (error: unknown) => void = nobody
const keepSettlers = (resolve: (value: never) => void, reject: (error: unknown) => void): void => {
  resolveLast = resolve as (value: unknown) => void
  rejectLast = reject
}
