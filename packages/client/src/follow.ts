import {
  deadline,
  ResilienceError,
  systemRandom,
  type Clock,
  type Deadline,
  type DeadlineInput,
  type Random,
} from '@secondwind/resilience'
import { check } from '@secondwind/resilience/rules'
import { anySignal } from './any-signal.ts'
import { LONGEST_AWAY_MS, passes } from './away.ts'
import { refuse, SIGNAL } from './check/fields.ts'
import { hasEnded, nextLookMs } from './look.ts'
import type { Tasks } from './tasks.ts'
import type { RetryTask } from './wire/task.ts'

export interface WaitForOptions {
  /** Ends the wait at once, and rejects with its reason; the task goes on. */
  readonly signal?: AbortSignal | undefined
  /** In so many ms, at an instant, or what `deadline(…)` returned; else the task's own deadline is the end of it. */
  readonly deadline?: DeadlineInput | Deadline | undefined
}

/** The deadline of a wait has passed, or no further look would be in time. The task goes on. */
export class WaitDeadlineError extends ResilienceError<'deadline'> {
  /** As it was seen last. */
  readonly task: RetryTask | undefined

  constructor(taskId: string, task: RetryTask | undefined) {
    const state = task === undefined ? 'was not seen' : `is ${task.status}${task.waits ? ` and ${task.waits}` : ''}`
    super('deadline', `the task ${taskId} ${state}: it does not end within the deadline of the wait`)
    this.task = task
  }

  override get name(): string {
    return 'WaitDeadlineError'
  }
}

export interface Waiting {
  readonly tasks: Pick<Tasks, 'get'>
  readonly clock: Clock
  readonly random?: Random | undefined
  /** Ends everything of this client. */
  readonly signal?: AbortSignal | undefined
}

/**
 * The task as it is, then each change that a look finds, its end as the last. Rarely looks where nothing can have
 * happened, never sleeps past its deadline.
 */
export async function* follow(taskId: string, options: WaitForOptions, waiting: Waiting): AsyncGenerator<RetryTask> {
  refuse('the task cannot be waited for', check.checkFields(options, FIELDS, WRONG_WORDS))
  const { tasks, clock, random = systemRandom } = waiting
  const limit = options.deadline && deadline(inputOf(options.deadline), clock)
  const wish = anySignal(options.signal, waiting.signal)
  const signal = anySignal(wish, limit?.signal)
  let task: RetryTask | undefined
  let seenAt = clock.monotonic()

  const look = async (): Promise<RetryTask | undefined> => {
    try {
      return await tasks.get(taskId, { signal })
    } catch (error) {
      const mayComeBack = task !== undefined && clock.monotonic() - seenAt < LONGEST_AWAY_MS
      if (signal?.aborted || !mayComeBack || !passes(error)) throw error
      return undefined
    }
  }

  try {
    for (let looks = 1; ; looks++) {
      const seen = await look()
      if (seen !== undefined) {
        const isChanged = task === undefined || seen.version !== task.version
        if (isChanged) looks = 1
        task = seen
        seenAt = clock.monotonic()
        if (isChanged) yield seen
        if (hasEnded(seen)) return
      }
      const waitMs = nextLookMs({ task: seen, looks, now: clock.now(), roll: random() })
      if (limit !== undefined && waitMs >= limit.remainingMs) throw new WaitDeadlineError(taskId, task)
      await clock.sleep(waitMs, signal)
    }
  } catch (error) {
    const isTooLate = limit?.remainingMs === 0 && !wish?.aborted
    throw isTooLate ? new WaitDeadlineError(taskId, task) : error
  } finally {
    limit?.release()
  }
}

/** The task once it has ended, well or not. */
export async function waitFor(taskId: string, options: WaitForOptions, waiting: Waiting): Promise<RetryTask> {
  let last: RetryTask | undefined
  for await (const task of follow(taskId, options, waiting)) last = task
  // Whatever does not end with the task ends with an error.
  return last!
}

const FIELDS: { readonly [option in keyof WaitForOptions]-?: check.FieldCheck } = {
  signal: SIGNAL,
  // What `deadline(…)` returns has its instant as a getter of its class.
  deadline: value => {
    const { inMs, at } = Object(value) as { readonly inMs?: unknown; readonly at?: unknown }
    return typeof (inMs ?? at) === 'number' ? undefined : '{ inMs }, { at } or what deadline(…) returned'
  },
}

const WRONG_WORDS: check.WrongWords = {
  timeout: 'deadline: { inMs }',
  timeoutMs: 'deadline: { inMs }',
  totalBudgetMs: 'deadline: { inMs }',
  deadlineAt: 'deadline: { at }',
}

function inputOf(input: DeadlineInput | Deadline): DeadlineInput {
  return 'inMs' in input ? input : { at: input.at }
}
