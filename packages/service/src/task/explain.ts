import type { GiveUpReason } from '@secondwind/resilience'
import { holdsOn, type GateReason, type Hold, type HoldReason, type LaneView } from './lane-view.ts'
import type { HeldBack, Lease, Queue, Task, TaskState } from './task.ts'

/** Its request says nothing about what it waits for. */
type Explained = Omit<Task, 'request'>

/** One sentence: what the task waits for, which gate holds it and until when, or how it ended. */
export function explain(task: Explained, view: LaneView | undefined, now: number): string {
  const { state } = task
  switch (state.status) {
    case 'PENDING':
      return `Attempt ${task.progress.attemptNumber + 1} ${waiting(task, state, view, now)}.`
    case 'IN_FLIGHT':
      return `Attempt ${task.progress.attemptNumber + 1} ${underWay(state.lease, now)}.`
    case 'SUCCEEDED':
      return `Attempt ${task.progress.attemptNumber} succeeded ${ago(state.endedAt, now)}.`
    case 'EXHAUSTED':
      return `Given up ${ago(state.endedAt, now)} after ${attemptsOf(task)}${lastErrorOf(task)}, because ${causeOf(state, task, now)}.`
    case 'CANCELLED':
      return `Cancelled ${ago(state.endedAt, now)} after ${attemptsOf(task)}.`
  }
}

type Pending = Extract<TaskState, { readonly status: 'PENDING' }>

function waiting(task: Explained, { nextAttemptAt, queue }: Pending, view: LaneView | undefined, now: number): string {
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

function heldBy(task: Explained, queue: Queue, view: LaneView, now: number): string | undefined {
  const holds = holdsOn(view, queue)
  return holds.length === 0 ? undefined : holds.map(hold => gateOf(task, hold, view, now)).join('; and ')
}

function gateOf({ destination, progress }: Explained, hold: Hold, view: LaneView, now: number): string {
  const { is, lasts } = GATES[hold.reason]
  const { until, since } = hold
  // Another gate keeps the probes back, too.
  if (until === undefined && since !== undefined) return silent(destination, since, now)
  if (until === undefined) return `${is(destination, view, hold)}, ${lasts}`
  const opens =
    hold.everyMs === undefined
      ? `${is(destination, view, hold)}, for another ${spanOf(Math.max(0, until - now))}`
      : probing(destination, { ...hold, until, everyMs: hold.everyMs }, now)
  const isTooLate = until >= progress.expiresAt
  return `${opens}${isTooLate ? `; and the deadline comes first, in ${spanOf(progress.expiresAt - now)}` : ''}`
}

/** Of credit that is used up: a probe need not be this task's. */
function probing(
  to: string,
  { since, everyMs, until }: Hold & { until: number; everyMs: number },
  now: number,
): string {
  const why =
    since === undefined ? `${to} has to answer before more attempts of this kind are sent` : silent(to, since, now)
  const next = until <= now ? 'now' : `at ${timeOf(until)}`
  return `${why}; one request every ${spanOf(everyMs)} finds out, the next ${next}`
}

/** A 503 comes back, too: that nothing does would be false. */
function silent(to: string, since: number, now: number): string {
  return `nothing but failures has come back from ${to} for ${spanOf(now - since)}`
}

const DAY_S = 86_400

/** `12:03:07 UTC`. */
function timeOf(at: number): string {
  const seconds = Math.floor(at / 1_000) % DAY_S
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60]
  return `${parts.map(part => String(part).padStart(2, '0')).join(':')} UTC`
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
    lasts: 'until it is ended',
  },
  paused: { is: (to, _, hold) => `${to} is paused${ordered(hold)}`, lasts: 'until it is resumed' },
  'breaker-open': { is: to => `the breaker of ${to} is held open by hand`, lasts: 'until an operator sets it to auto' },
  probing: { is: to => `a request to ${to} that was sent by hand is under way`, lasts: 'until it ends' },
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
  credit: { is: to => `${to} has to answer before more attempts of this kind are sent`, lasts: 'until it does' },
  budget: { is: to => `the retry budget of ${to} is empty`, lasts: 'until first attempts have filled it' },
  slots: { is: () => 'every slot of this instance is taken', lasts: 'until a request under way ends' },
  store: { is: () => 'the store cannot be written to', lasts: 'until it can' },
}

function ordered({ because, isByOperator, isByRule }: Hold): string {
  const words = because === undefined || because === '' ? '' : ` ("${because}")`
  const whose = isByOperator ? ' by order of an operator' : ''
  return `${isByRule ? ' again by its stop rule' : whose}${words}`
}

function underWay({ endsAt, cancelRequested }: Lease, now: number): string {
  if (cancelRequested) return 'is being stopped, and unless it succeeds the task ends as cancelled'
  return endsAt > now
    ? `is under way, and counts as lost unless its end is reported within ${spanOf(endsAt - now)}`
    : `should have ended ${ago(endsAt, now)}, and is about to be counted as lost`
}

type Exhausted = Extract<TaskState, { readonly status: 'EXHAUSTED' }>

/** "Given up …, because …". A task need not wait for a deadline that its next attempt could not meet. */
function causeOf({ reason, endedAt, held }: Exhausted, task: Explained, now: number): string {
  const { expiresAt } = task.progress
  const isEarly = reason === 'deadline' && endedAt < expiresAt
  if (!isEarly) return held === undefined ? GIVEN_UP[reason] : heldUntilDeadline(held, task, now)
  const gate = held === undefined ? '' : `, and ${HELD[held.by](task.destination)}`
  return `the next attempt would have come too late for its deadline, which was ${spanOf(expiresAt - endedAt)} away${gate}`
}

function heldUntilDeadline({ by, since }: HeldBack, { destination }: Explained, now: number): string {
  // The time of day alone would be ambiguous.
  const when = now - since < DAY_S * 1_000 ? timeOf(since) : ago(since, now)
  return `its deadline came while ${HELD[by](destination)}: it was held since ${when}`
}

/** What each gate was like while it held a task. */
const HELD: { readonly [by in GateReason]: (destination: string) => string } = {
  'kill-switch': () => 'a kill switch was on',
  paused: to => `${to} was paused`,
  'breaker-open': to => `the breaker of ${to} was open`,
  probing: to => `a request to ${to} that was sent by hand was under way`,
  'retry-after': to => `${to} had asked to be left alone`,
  'slow-start': to => `${to} had come back and was given more step by step`,
  concurrency: to => `as many requests to ${to} as its limit allows were under way`,
  'rate-limited': to => `the rate limit of ${to} was used up`,
  credit: to => `the credit of ${to} was used up`,
  budget: to => `the retry budget of ${to} was empty`,
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
  nested: 'a caller further up retries already',
  killed: 'a kill switch forbade it',
  aborted: 'it was aborted',
  shutdown: 'the service was stopped',
  'body-missing': 'its body is gone',
  lost: 'each of the last instances that sent it stopped before the end',
  'handed-over': 'another program has taken it over',
}

function attemptsOf({ progress: { attemptNumber } }: Explained): string {
  if (attemptNumber === 0) return 'no attempt'
  return attemptNumber === 1 ? '1 attempt' : `${attemptNumber} attempts`
}

function lastErrorOf({ lastAttempt }: Explained): string {
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
