import {
  decide,
  rememberHistory,
  ResilienceError,
  systemRandom,
  type Exhausted,
  type GiveUpReason,
  type Problem,
} from '@secondwind/resilience'
import { refuse } from './check/fields.ts'
import type { Client } from './client.ts'
import type { RetryTaskInput } from './wire/task.ts'

/** What the caller gets in the place of a result: it goes on as a durable task. */
export interface HandedOver {
  readonly kind: 'handed-over'
  readonly taskId: string
}

/**
 * The call as the service is to make it. Key, attempts and time are carried over; so is the policy, unless a
 * `policyId` says under which name the service keeps it.
 */
export type TaskDescription = Omit<RetryTaskInput, (typeof CARRIED)[number]>

/** What the operation brings along: nobody else may say otherwise. */
const CARRIED = ['idempotencyKey', 'attemptsMade', 'elapsedMs', 'policy', 'delayMs', 'notBefore'] as const

export type Describe<E extends Exhausted> = (exhausted: E) => TaskDescription | PromiseLike<TaskDescription>

/** Why a call cannot go on in the service; the operation's own error is thrown, and this is told beside it. */
export class HandOverError extends ResilienceError<'nothing-left' | 'not-repeatable'> {
  override get name(): string {
    return 'HandOverError'
  }
}

/**
 * For `onExhausted`: once the share of a policy that is meant for the process is spent, the call becomes a task of the
 * service and goes on with the next attempt, under the same key and by the same document. If that fails, the
 * operation ends with its own last error, and an event `exhausted-hook-failed` tells why.
 */
export function handOver<E extends Exhausted = Exhausted>(
  client: Pick<Client, 'tasks'>,
  describe: Describe<E>,
): (exhausted: E) => Promise<HandedOver> {
  return async exhausted => {
    const { policy, idempotencyKey, history } = exhausted
    const spent = spentBy(exhausted, systemRandom())
    const description = await describe(exhausted)
    refuse('the call cannot be handed over', misplaced(description))
    const document = description.policyId === undefined ? { policy } : {}
    const { taskId } = await client.tasks.enqueue({ ...description, ...document, idempotencyKey, ...spent })
    const handedOver: HandedOver = { kind: 'handed-over', taskId }
    rememberHistory(handedOver, { ...history, reason: 'handed-over' })
    return handedOver
  }
}

function misplaced(description: Partial<RetryTaskInput>): Problem[] {
  return CARRIED.filter(field => description[field] !== undefined).map(at => ({
    at,
    is: description[at],
    say: 'is carried over from the operation: leave it out',
  }))
}

type Spent = Pick<RetryTaskInput, 'attemptsMade' | 'elapsedMs' | 'delayMs'>

/** What of the whole has been spent in process. Throws if that was all of it. */
function spentBy({ policy, history }: Exhausted, roll: number): Spent {
  const { attempts, failures } = history
  const elapsedMs = Math.round(history.elapsedMs)
  const last = failures.at(-1)
  // A gate was shut before the first attempt: nothing has failed that one would have to wait after.
  if (attempts === 0 || last === undefined) return { attemptsMade: attempts, elapsedMs }

  const { fault, retryAfterMs } = last
  const state = { attempt: attempts, startedAt: 0, previousDelayMs: policy.initialDelayMs }
  const outcome = { kind: 'failure', fault, ...(retryAfterMs !== undefined && { retryAfterMs }) } as const
  const decision = decide(policy, state, outcome, { now: elapsedMs, roll, expectedCallMs: 0 })
  if (decision.kind !== 'retry') throw nothingLeft(decision.kind === 'give-up' ? decision.reason : 'attempts')
  if (!retryAfterMs) return { attemptsMade: attempts, elapsedMs }
  // The service counts from its first attempt; this wait is part of the whole, for the deadline stays where it is.
  const delayMs = Math.ceil(decision.at - elapsedMs)
  return { attemptsMade: attempts, elapsedMs: elapsedMs + delayMs, delayMs }
}

function nothingLeft(reason: GiveUpReason): HandOverError {
  return new HandOverError(
    'nothing-left',
    `the whole policy ends here (${reason}), and leaves the service nothing to do: give the process a share of it, ` +
      'as in { maxAttempts: 12, totalBudgetMs: 86_400_000, inProcess: { maxAttempts: 3, totalBudgetMs: 5_000 } }',
  )
}
