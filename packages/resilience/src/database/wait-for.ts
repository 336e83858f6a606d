import { DeadlineError } from '../errors.ts'
import { followSignal, unfollowSignal } from '../ports/signals.ts'
import { nextTurn } from '../ports/turn.ts'
import { delayMs } from '../retry/backoff.ts'
import { compilePolicy } from '../retry/compile.ts'
import type { CallOptions, RetryOptions, Work } from '../retry/options.ts'
import type { RetryPolicyInput } from '../retry/policy.ts'
import { begin } from '../retry/run.ts'
import { Setup } from '../retry/setup.ts'
import { withWaitDefaults } from './policy.ts'

export interface WaitOptions extends Pick<
  RetryOptions,
  'signal' | 'deadlineAt' | 'name' | 'budget' | 'classify' | 'telemetry' | 'ports'
> {
  /** How long to wait, unless `deadlineAt` comes first; half a minute unless told. */
  readonly totalBudgetMs?: number
  /** Where the source can tell that something has changed: nobody polls then. */
  readonly subscribe?: Subscribe
  /** The waits between looks where nobody notifies, and how a look that fails is retried. */
  readonly policy?: RetryPolicyInput
}

/** Calls `notify` whenever it may be worth another look, until what it returns is called. */
export type Subscribe = (notify: () => void) => Unsubscribe | PromiseLike<Unsubscribe>
export type Unsubscribe = () => unknown

type Truthy<T> = Exclude<T, false | 0 | 0n | '' | null | undefined>

/**
 * Waits until `condition` returns something truthy, and returns that: for a lock, a row, a file. One wait with a
 * deadline, and `DeadlineError` when it has passed; without `subscribe` as soon as no further look would be in time.
 * What the condition throws is thrown, unless it is known to pass by itself.
 */
export async function waitFor<T>(condition: Work<T>, options: WaitOptions = {}): Promise<Truthy<T>> {
  const { signal, subscribe, totalBudgetMs } = options
  const asked = { ...options.policy, ...(totalBudgetMs === undefined ? {} : { totalBudgetMs }) }
  const compiled = compilePolicy(withWaitDefaults(asked))
  const { policy } = compiled
  const setup = new Setup<unknown, never>(compiled, options)
  const { clock, random } = setup
  const startedAt = clock.monotonic()
  const endsAt = startedAt + Math.min(policy.totalBudgetMs, (options.deadlineAt ?? Infinity) - clock.now())
  const inTime = (work: Work<unknown>, once?: CallOptions['once']): Promise<unknown> =>
    begin(work, setup, { ...options, once, deadlineAt: clock.now() + endsAt - clock.monotonic() })

  let bell = new AbortController()
  const ring = (): void => bell.abort()
  const follower = { onAbort: ring }
  let subscription: Promise<Unsubscribe> | undefined

  if (signal !== undefined) followSignal(signal, follower)
  try {
    // Before the first look: what changes between the two would be missed.
    if (subscribe) await inTime(() => (subscription = Promise.resolve(subscribe(ring))), 'not-replayable')
    for (let looks = 1, previousDelayMs = policy.initialDelayMs; ; looks++) {
      // Renewed before each look: what changes during it is seen by the next.
      bell = new AbortController()
      const value = await inTime(condition)
      if (value) return value as Truthy<T>
      const turned = subscribe && new Promise<void>(nextTurn)
      const now = clock.monotonic()
      previousDelayMs = subscribe ? endsAt - now : delayMs(policy, { attempt: looks, previousDelayMs }, random())
      const isInVain = !subscribe && now + previousDelayMs > endsAt
      if (!isInVain) await clock.sleep(previousDelayMs, bell.signal).catch(() => 'rung before its time')
      // A source that rings at each look must not keep everybody else from their turn, the deadline's alarm included.
      await turned
      if (isInVain || clock.monotonic() >= endsAt) throw new DeadlineError(looks, endsAt - startedAt)
    }
  } finally {
    if (signal !== undefined) unfollowSignal(signal, follower)
    // Also one that comes about only now; that it cannot be ended is nobody's to hear any more.
    void subscription?.then(unsubscribe => unsubscribe()).catch(() => {})
  }
}
