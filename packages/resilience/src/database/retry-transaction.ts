import { compilePolicy } from '../retry/compile.ts'
import { judge } from '../retry/judge.ts'
import type { Attempt, RetryOptions } from '../retry/options.ts'
import type { RetryPolicyInput } from '../retry/policy.ts'
import { begin as beginOperation } from '../retry/run.ts'
import { Setup } from '../retry/setup.ts'
import { classifyDatabaseError } from './classify.ts'

/** A transaction that has begun, as many drivers hand it out. */
export interface TransactionHandle {
  commit(): unknown
  rollback(): unknown
  /** Gives its connection back to the pool; broken is one that could not be rolled back. */
  release?(isBroken: boolean): unknown
}

/** Hands out a transaction, or is a driver's own `transaction(callback)`: begins, calls, and commits or rolls back. */
// oxlint-disable-next-line typescript/no-explicit-any -- which transaction it is follows from what is given
export type Begin = (body: (transaction: any) => Promise<any>) => unknown

/** What the work is handed. */
export type TransactionOf<B extends Begin> =
  Awaited<ReturnType<B>> extends TransactionHandle
    ? Awaited<ReturnType<B>>
    : Parameters<B> extends [(transaction: infer Transaction) => unknown, ...unknown[]]
      ? Transaction
      : never

export interface TransactionOptions<T = unknown, A = never> extends Omit<
  RetryOptions<T, A>,
  'once' | 'classifyResult' | 'discard'
> {
  /** Also a transaction that may have been committed is made again: to do it twice is the same as to do it once. */
  readonly idempotent?: boolean
}

/**
 * Makes a whole transaction again when the database has undone it (a deadlock, a serialization failure) or its
 * connection was lost before the commit; never a part of it, for what it has read may be another's by now. A connection
 * that is lost during the commit leaves the question whether it arrived: that is the end, with the reason
 * `not-idempotent`, unless `idempotent` is given.
 *
 * `begin` returns a handle with `commit` and `rollback`, or it is the driver's own `transaction(callback)`. What `work`
 * throws is thrown, whatever the rollback then says. Nothing but the database should be changed in it.
 */
export async function retryTransaction<B extends Begin, T, A = never>(
  begin: B,
  work: (transaction: TransactionOf<B>, attempt: Attempt) => T | PromiseLike<T>,
  policy?: RetryPolicyInput,
  { idempotent = false, ...options }: TransactionOptions<T, A> = {},
): Promise<T | A> {
  const compiled = compilePolicy(policy)
  let isCommitting = false

  const transact = async (attempt: Attempt): Promise<T> => {
    // Some drivers call the body again of their own accord: its last run counts.
    let run = undefined as { readonly value: T } | { readonly error: unknown } | undefined
    isCommitting = false
    const body = async (transaction: TransactionOf<B>): Promise<T> => {
      isCommitting = false
      try {
        attempt.signal.throwIfAborted()
        const value = await work(transaction, attempt)
        // Whoever was told to stop must not commit: the next attempt may be under way.
        attempt.signal.throwIfAborted()
        run = { value }
        isCommitting = true
        return value
      } catch (error) {
        run = { error }
        throw error
      }
    }
    try {
      const opened = await begin(body)
      if (run === undefined) await runOn(opened, body)
    } catch (error) {
      run = run !== undefined && 'error' in run ? run : { error }
    }
    // What the rollback says about a connection that is lost already is no news.
    if ('error' in run!) throw run.error
    return run!.value
  }

  const known = { ...options, classify: (error: unknown) => options.classify?.(error) ?? classifyDatabaseError(error) }
  const ordinary = new Setup<T, A>(compiled, known)
  const classify: RetryOptions['classify'] = error => {
    // Before the commit everything is undone, whatever it was that failed; after it only the database's own word counts.
    const isUndone = !isCommitting || classifyDatabaseError(error)?.unsent === true
    return { ...judge(error, ordinary), unsent: isUndone }
  }
  const once = idempotent ? undefined : 'not-idempotent'
  return beginOperation(transact, new Setup<T, A>(compiled, { ...options, classify }), { ...options, once })
}

async function runOn(opened: unknown, body: (transaction: never) => Promise<unknown>): Promise<void> {
  if (!isHandle(opened))
    throw new TypeError('begin must return a transaction with commit and rollback, or call the function it is given')
  let isBroken = false
  try {
    await body(opened as never)
    await opened.commit()
  } catch (error) {
    isBroken = !(await goesWell(() => opened.rollback()))
    throw error
  } finally {
    await goesWell(() => opened.release?.(isBroken))
  }
}

/** What cleaning up says must hide neither an error nor a commit; a server forgets by itself what has lost its client. */
async function goesWell(cleanUp: () => unknown): Promise<boolean> {
  try {
    await cleanUp()
    return true
  } catch {
    return false
  }
}

function isHandle(opened: unknown): opened is TransactionHandle {
  const { commit, rollback } = Object(opened) as Partial<TransactionHandle>
  return typeof commit === 'function' && typeof rollback === 'function'
}
