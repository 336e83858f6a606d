import { atOnce, type Budget } from '../budget/budget.ts'
import { withoutUndefined } from '../check/problems.ts'
import { SUCCESS, type Failure, type Outcome } from '../classify/outcome.ts'
import { refuseProblems } from '../errors.ts'
import { compilePolicy } from '../retry/compile.ts'
import { historyOf } from '../retry/history.ts'
import { isRetryable } from '../retry/decide.ts'
import { judge } from '../retry/judge.ts'
import type { Attempt, CallOptions, RetryOptions } from '../retry/options.ts'
import type { RetryPolicyInput } from '../retry/policy.ts'
import { begin } from '../retry/run.ts'
import { Setup } from '../retry/setup.ts'
import { atMost } from './at-most.ts'
import { checkBatch, DEFAULT_BATCH, type BatchPolicy } from './policy.ts'

export interface BatchOptions
  extends Partial<BatchPolicy>, Omit<RetryOptions, 'idempotencyKey' | 'classifyResult' | 'discard' | 'onExhausted'> {
  /** Of each chunk; `deadlineAt` is that of the whole batch. */
  readonly policy?: RetryPolicyInput
}

/**
 * Sends some items, and answers for each of them in their order, as `Promise.allSettled` would. There is no key for
 * the call: sent again it has fewer items, and is another. Keys belong to the items.
 */
export type SendItems<Item, T> = (
  items: readonly Item[],
  attempt: Omit<Attempt, 'idempotencyKey'>,
) => Answers<T> | PromiseLike<Answers<T>>

type Answers<T> = readonly PromiseSettledResult<T>[]

/**
 * Sends items in chunks, and of each chunk again only those that failed and may succeed yet, in the same order. An item
 * that is refused for good is reported and holds up no other; a chunk that is refused as a whole is halved until the
 * item that spoils it is alone. Like `Promise.allSettled` it does not reject, and answers in the order of `items`.
 */
export async function batch<Item, T>(
  items: readonly Item[],
  send: SendItems<Item, T>,
  options: BatchOptions = {},
): Promise<PromiseSettledResult<T>[]> {
  refuseProblems(checkBatch(options))
  const { maxItems, concurrency, isolate, ...rest } = { ...DEFAULT_BATCH, ...withoutUndefined(options) }
  const setup = new Setup<Round<T>, never>(compilePolicy(options.policy), { ...rest, classifyResult: takeAnswers })
  const results: PromiseSettledResult<T>[] = []
  const { clock } = setup
  const endsAt = clock.monotonic() + (rest.deadlineAt ?? Infinity) - clock.now()
  // In elapsed time until a chunk begins: a wall clock that is set meanwhile gives the later ones no other deadline.
  const call = (): CallOptions =>
    endsAt === Infinity ? rest : { ...rest, deadlineAt: clock.now() + endsAt - clock.monotonic() }

  /** Answers are taken when the attempt counts: one that was given up must not speak for items that are sent anew. */
  function takeAnswers({ pending, answers }: Round<T>): Outcome {
    if (!Array.isArray(answers) || !answers.every(isAnswer))
      throw new TypeError(
        "send must return, for each item, { status: 'fulfilled', value } or { status: 'rejected', reason }",
      )
    if (answers.length !== pending.length)
      throw new TypeError(`send was given ${pending.length} items and answered for ${answers.length}`)
    const failures = answers.map(answer => (answer.status === 'rejected' ? judge(answer.reason, setup) : SUCCESS))
    for (const [n, place] of pending.splice(0).entries()) {
      results[place] = answers[n]!
      if (isRetryable(failures[n]!)) pending.push(place)
    }
    return failures.filter(isRetryable).reduce<Outcome>(worseOf, SUCCESS)
  }

  /** `pending` are the places of its items, less those that have ended. */
  const sendChunk = async (pending: number[]): Promise<void> => {
    const work = async (attempt: Attempt): Promise<Round<T>> => {
      const answers = await send(
        pending.map(place => items[place]!),
        attempt,
      )
      return { pending, answers }
    }
    try {
      await begin(work, setup, call())
    } catch (reason) {
      reject(pending, reason)
      if (isPoisoned(isolate, reason) && pending.length > 1) await sendHalves(pending)
    }
  }

  const sendHalves = async (places: readonly number[]): Promise<void> => {
    const middle = Math.ceil(places.length / 2)
    for (const half of [places.slice(0, middle), places.slice(middle)])
      try {
        if (isPaid(setup.budget)) await sendChunk(half)
      } catch (error) {
        // The budget threw. Each item of this half says so, and the other chunks go on.
        reject(half, error)
      }
  }

  const reject = (pending: readonly number[], reason: unknown): void => {
    for (const place of pending) results[place] = { status: 'rejected', reason }
  }

  const places = [...items.keys()]
  const chunks = places.filter(place => place % maxItems === 0).map(from => places.slice(from, from + maxItems))
  await atMost(concurrency, chunks, sendChunk)
  return results
}

interface Round<T> {
  readonly pending: number[]
  readonly answers: Answers<T>
}

/** A half is sent because something failed, so it is a retry; as a call it is counted when it begins. */
function isPaid(budget: Budget | undefined): boolean {
  const paid = budget === undefined || atOnce('tryWithdraw', budget.tryWithdraw('transient'))
  if (paid) budget?.settle?.('ignored', 'transient')
  return paid
}

/** The one that asks for the longest wait speaks for all that are sent again with it. */
function worseOf(one: Outcome, other: Failure): Failure {
  return one.kind === 'failure' && (one.retryAfterMs ?? 0) >= (other.retryAfterMs ?? 0) ? one : other
}

function isPoisoned(isolate: BatchPolicy['isolate'], error: unknown): boolean {
  const reason = historyOf(error)?.reason
  return isolate !== 'never' && (reason === 'permanent' || (isolate === 'always' && reason === 'attempts'))
}

function isAnswer(answer: unknown): boolean {
  const { status } = Object(answer) as { readonly status?: unknown }
  return status === 'fulfilled' || status === 'rejected'
}
