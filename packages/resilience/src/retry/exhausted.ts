import type { GiveUpReason } from './decide.ts'
import type { History } from './history.ts'
import type { RetryPolicy } from './policy.ts'
import type { Setup } from './setup.ts'

/** An operation that may be taken over by somebody with more patience. */
export interface Exhausted {
  readonly reason: GiveUpReason
  readonly error: unknown
  /** Attempts made and time spent, to be carried over. */
  readonly history: History
  /** The whole document, of which this process has spent its share. */
  readonly policy: RetryPolicy
  readonly idempotencyKey: string
}

/** Reasons that no time would cure, or that are the caller's own wish. All others are a matter of patience. */
const FINAL_REASONS: readonly GiveUpReason[] = ['permanent', 'not-idempotent', 'not-replayable', 'nested', 'aborted']

/** Settles an operation that failed: as the hook says, where it is asked and answers, else with the failure itself. */
export function settleFailed<T, A>(
  operation: Settled<T, A>,
  { options: { onExhausted }, document }: Setup<T, A>,
  { error, history, returned }: Failed,
  onHookFailed: (error: unknown) => void,
): void {
  const settle = (): void => (returned ? operation.resolve(error as T) : operation.reject(error))
  const { reason } = history
  if (onExhausted === undefined || FINAL_REASONS.includes(reason)) return settle()
  const { idempotencyKey } = operation
  const exhausted = { reason, error, history, policy: document, idempotencyKey }
  new Promise<A>(resolve => resolve(onExhausted(exhausted))).then(operation.resolve, (hookError: unknown) => {
    onHookFailed(hookError)
    settle()
  })
}

interface Settled<T, A> {
  readonly idempotencyKey: string
  readonly resolve: (value: T | A) => void
  readonly reject: (error: unknown) => void
}

interface Failed {
  readonly error: unknown
  readonly history: History
  /** It was no error but a value that was judged a failure: it is returned all the same. */
  readonly returned: boolean
}
