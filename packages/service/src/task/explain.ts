import type { GiveUpReason } from '@secondwind/resilience'
import { holdsOn, type Hold, type HoldReason, type LaneView } from './lane-view.ts'
import type { Lease, Queue, Task, TaskState } from './task.ts'

/** One sentence for whoever asks: what the task waits for, which gate holds it and until when, or how it ended. */
export function explain(task: Task, view: LaneView | undefined, now: number): string {
  const { state } = task
  switch (state.status) {
    case 'PENDING':
      return `Attempt ${task.progress.attemptNumber + 1} ${waiting(task, state, view, now)}.`
    case 'IN_FLIGHT':
      return `Attempt ${task.progress.attemptNumber + 1} ${underWay(state.lease, now)}.`
    case 'SUCCEEDED':
      return `Attempt ${task.progress.attemptNumber} succeeded ${ago(state.endedAt, now)}.`
    case 'EXHAUSTED':
      return `Given up ${ago(state.endedAt, now)} after ${attemptsOf(task)}, because ${causeOf(state, task)}${lastErrorOf(task)}.`
    case 'CANCELLED':
      return `Cancelled ${ago(state.endedAt, now)} after ${attemptsOf(task)}.`
  }
}

type Pending = Extract<TaskState, { readonly status: 'PENDING' }>

function waiting(task: Task, { nextAttemptAt, queue }: Pending, view: LaneView | undefined, now: number): string {
  const { expiresAt } = task.progress
  if (expiresAt <= now) return `will not be made, for the deadline passed ${ago(expiresAt, now)}`
  const held = view === undefined ? undefined : heldBy(task, queue, view, now)
  if (nextAttemptAt > now) {
    const gate = held === undefined ? '' : `; at present ${held}`
    return `is due in ${spanOf(nextAttemptAt - now)}${lastErrorOf(task)}${gate}`
  }
  const due = nextAttemptAt === now ? 'is due now' : `has been due for ${spanOf(now - nextAttemptAt)}`
  if (held !== undefined) return `${due}: ${held}`
  return view === undefined
    ? `${due}, and waits for an instance that serves its destination`
    : `${due}; no gate holds it, and it starts when its turn comes`
}

function heldBy(task: Task, queue: Queue, view: LaneView, now: number): string | undefined {
  const holds = holdsOn(view, queue)
  return holds.length === 0 ? undefined : holds.map(hold => gateOf(task, hold, view, now)).join('; and ')
}

function gateOf({ destination, progress }: Task, hold: Hold, view: LaneView, now: number): string {
  const { is, lasts } = GATES[hold.reason]
  const gate = is(destination, view, hold)
  if (hold.until === undefined) return `${gate}, ${lasts}`
  const opens = `for another ${spanOf(Math.max(0, hold.until - now))}`
  const isTooLate = hold.until >= progress.expiresAt
  return `${gate}, ${opens}${isTooLate ? `, and the deadline comes first, in ${spanOf(progress.expiresAt - now)}` : ''}`
}

/** What each gate says of itself, and what it waits for when it cannot name an instant. */
const GATES: {
  readonly [reason in HoldReason]: {
    readonly is: (destination: string, view: LaneView, hold: Hold) => string
    readonly lasts: string
  }
} = {
  'kill-switch': {
    is: (_, __, hold) => `the kill switch is at ${hold.level ?? 'dispatch-off'}${ordered(hold)}`,
    lasts: 'until somebody ends it',
  },
  paused: { is: (to, _, hold) => `${to} is paused${ordered(hold)}`, lasts: 'until somebody resumes it' },
  'breaker-open': { is: to => `the breaker of ${to} is open`, lasts: 'by hand, until somebody sets it to auto' },
  probing: { is: to => `one request at a time finds out whether ${to} is back`, lasts: 'until it is' },
  'retry-after': { is: to => `${to} asked to be left alone`, lasts: 'until that has passed' },
  'slow-start': {
    is: to => `${to} has come back and is given more step by step`,
    lasts: 'until a request under way ends',
  },
  concurrency: {
    is: (to, { inFlight, limit }) => `${inFlight} of at most ${limit} requests to ${to} are under way`,
    lasts: 'until one of them ends',
  },
  'rate-limited': { is: to => `the rate limit of ${to} is used up`, lasts: 'until it allows more' },
  budget: { is: to => `the retry budget of ${to} is empty`, lasts: 'until first attempts have filled it' },
  slots: { is: () => 'every slot of this instance is taken', lasts: 'until a request under way ends' },
  store: { is: () => 'the store cannot be written to', lasts: 'until it can' },
}

function ordered({ because, isByOperator, isByRule }: Hold): string {
  const words = because === undefined || because === '' ? '' : ` ("${because}")`
  const whose = isByOperator ? ' by order of whoever runs the service' : ''
  return `${isByRule ? ' again by its stop rule' : whose}${words}`
}

function underWay({ endsAt, cancelRequested }: Lease, now: number): string {
  if (cancelRequested) return 'is being stopped, and unless it succeeds the task ends as cancelled'
  return endsAt > now
    ? `is under way, and counts as lost if nobody says within ${spanOf(endsAt - now)} how it ended`
    : `should have ended ${ago(endsAt, now)}, and is about to be counted as lost`
}

type Exhausted = Extract<TaskState, { readonly status: 'EXHAUSTED' }>

/** "Given up …, because …". A task need not wait for a deadline that its next attempt could not meet. */
function causeOf({ reason, endedAt }: Exhausted, { progress: { expiresAt } }: Task): string {
  if (reason !== 'deadline' || endedAt >= expiresAt) return GIVEN_UP[reason]
  return `the next attempt would have come too late for its deadline, which was ${spanOf(expiresAt - endedAt)} away`
}

const GIVEN_UP: { readonly [reason in GiveUpReason]: string } = {
  permanent: 'no repetition mends this failure',
  'not-idempotent': 'it must not be repeated and may have been carried out',
  'not-replayable': 'its body could not be sent again',
  attempts: 'its policy allows no more',
  deadline: 'its deadline had come',
  'retry-after-too-long': 'the target asked for a wait that ends after the deadline',
  budget: 'retries were too large a part of the load',
  'breaker-open': 'the breaker of its destination was open',
  throttled: 'a limit of its destination left no room',
  nested: 'somebody further up retries already',
  killed: 'a kill switch forbade it',
  aborted: 'it was aborted',
  shutdown: 'the service was stopped',
  'body-missing': 'its body is gone',
  lost: 'each of the last instances that sent it stopped before the end',
  'handed-over': 'somebody else has taken it over',
}

function attemptsOf({ progress: { attemptNumber } }: Task): string {
  if (attemptNumber === 0) return 'no attempt'
  return attemptNumber === 1 ? '1 attempt' : `${attemptNumber} attempts`
}

function lastErrorOf({ lastAttempt }: Task): string {
  return lastAttempt?.errorCode === undefined ? '' : `, the last one having ended with ${lastAttempt.errorCode}`
}

function ago(instant: number, now: number): string {
  return instant >= now ? 'just now' : `${spanOf(now - instant)} ago`
}

const UNITS: readonly (readonly [unit: string, lengthMs: number])[] = [
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
]

/** Rounded to a tenth: a person asks. */
function spanOf(ms: number): string {
  const [unit, lengthMs] = UNITS.find(([, length]) => ms >= length) ?? ['ms', 1]
  return `${Math.round((ms / lengthMs) * 10) / 10} ${unit}`
}
