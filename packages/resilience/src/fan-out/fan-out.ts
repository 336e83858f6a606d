import { defaultBudget, RuledBudget, type Budget } from '../budget/budget.ts'
import { ratioRule } from '../budget/decide.ts'
import { withoutUndefined } from '../check/problems.ts'
import { refuseProblems } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import { followSignal, unfollowSignal } from '../ports/signals.ts'
import { systemClock } from '../ports/system-clock.ts'
import { compilePolicy } from '../retry/compile.ts'
import type { CallOptions, RetryOptions, Work } from '../retry/options.ts'
import type { RetryPolicyInput } from '../retry/policy.ts'
import { begin } from '../retry/run.ts'
import { Setup } from '../retry/setup.ts'
import { atMost } from './at-most.ts'
import { checkFanOut, DEFAULT_FAN_OUT, LEAF_BUDGET, type FanOutPolicy } from './policy.ts'

export interface FanOutOptions
  extends
    Partial<FanOutPolicy>,
    Omit<RetryOptions, 'idempotencyKey' | 'classifyResult' | 'discard' | 'onExhausted' | 'budget'> {
  /** Of each leaf; its `totalBudgetMs` is the time of all of them together, unless `deadlineAt` comes first. */
  readonly policy?: RetryPolicyInput
  /** In place of the default: a tenth of the leaves, at least two, and never more than the process's budget allows. */
  readonly budget?: Budget | false
}

/** What became of each leaf, in their order. */
export type Leaves<Calls extends readonly Work<unknown>[]> = {
  -readonly [Leaf in keyof Calls]: PromiseSettledResult<Awaited<ReturnType<Calls[Leaf]>>>
}

/**
 * Many calls at once, of which only those that fail are made again, and few of them: their retries are paid from one
 * small budget. All leaves have the same deadline, the parent's less `reserveMs`. Like `Promise.allSettled` it does not
 * reject: leaves that were aborted, or no longer needed, are rejected in the list.
 */
export async function fanOut<const Calls extends readonly Work<unknown>[]>(
  calls: Calls,
  options: FanOutOptions = {},
): Promise<Leaves<Calls>> {
  refuseProblems(checkFanOut(options))
  const { concurrency, reserveMs, minSuccesses, ...rest } = { ...DEFAULT_FAN_OUT, ...withoutUndefined(options) }
  const compiled = compilePolicy(options.policy)
  const clock = options.ports?.clock ?? systemClock
  const budget = rest.budget ?? tightBudget(calls.length, clock)
  const setup = new Setup<unknown, never>(compiled, { ...rest, budget })
  const parentMs = Math.min(compiled.policy.totalBudgetMs, (rest.deadlineAt ?? Infinity) - clock.now())
  const endsAt = clock.monotonic() + parentMs - reserveMs

  const controller = new AbortController()
  // In elapsed time until a leaf begins: a wall clock that is set meanwhile gives the later ones no other deadline.
  const call = (): CallOptions => ({
    ...rest,
    signal: controller.signal,
    deadlineAt: clock.now() + endsAt - clock.monotonic(),
  })
  const follower = { onAbort: (reason: unknown): void => controller.abort(reason) }
  const { signal } = rest
  if (signal?.aborted) controller.abort(signal.reason)
  else if (signal !== undefined) followSignal(signal, follower)

  const leaves: PromiseSettledResult<unknown>[] = []
  let successes = 0
  await atMost(concurrency, calls, async (work, place) => {
    try {
      leaves[place] = { status: 'fulfilled', value: await begin(work, setup, call()) }
      if (++successes === minSuccesses) controller.abort(new DOMException('other leaves were enough', 'AbortError'))
    } catch (reason) {
      leaves[place] = { status: 'rejected', reason }
    }
  })
  if (signal !== undefined) unfollowSignal(signal, follower)
  return leaves as Leaves<Calls>
}

/** A fan-out's own share, of which all leaves are known beforehand, within what the whole process may spend. */
function tightBudget(leaves: number, clock: Clock): Budget {
  const own = new RuledBudget(LEAF_BUDGET, ratioRule, clock)
  for (let leaf = 0; leaf < leaves; leaf++) own.deposit()
  const shared = defaultBudget(clock)
  return {
    clock,
    deposit: now => shared.deposit(now),
    covers: (fault, now) => own.covers(fault, now) && shared.covers!(fault, now),
    tryWithdraw: (fault, now) =>
      own.covers(fault, now) && shared.tryWithdraw(fault, now) && own.tryWithdraw(fault, now),
    get balance() {
      return Math.min(own.balance, shared.balance)
    },
  }
}
