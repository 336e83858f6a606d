import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { GIVE_UP_REASONS } from '@secondwind/resilience'
import { laneKind } from '@secondwind/resilience/rules'
import { asTaken, newTask } from '../stores/exam/tasks.test-kit.ts'
import { explain } from './explain.ts'
import { GATE_REASONS, HOLD_REASONS, type GateReason, type Hold, type LaneView } from './lane-view.ts'
import type { Claimed, AttemptEnd, Progress, QueueKind, Task, TaskState } from './task.ts'

const NOW = 1_767_225_600_000
const BUSY: AttemptEnd = { outcome: 'transient', responseStatus: 503, errorCode: 'http-503' }
/** Asked for a wait. */
const AWAY: Hold = { reason: 'retry-after', until: NOW + 27_000 }
const OPEN: Hold = { reason: 'breaker-open', until: NOW + 7_000, since: NOW - 180_000, everyMs: 9_000 }

function taskIn(state: TaskState, progress: Partial<Progress> = {}, lastAttempt?: AttemptEnd): Task {
  return { ...asTaken(newTask(1, NOW, { progress })), state, ...(lastAttempt !== undefined && { lastAttempt }) }
}

function waiting(nextAttemptAt: number, kind: QueueKind = 'first'): TaskState {
  return { status: 'PENDING', nextAttemptAt, queue: { policyId: 'default', kind, rank: 'normal' } }
}

function viewOf(holds: Pick<LaneView, 'hold' | 'kindHolds' | 'policyHolds'> = {}): LaneView {
  const credit = { first: 20, retry: 60, late: 20 }
  return { lane: 'acme https://api.example', breaker: 'closed', limit: 20, inFlight: 20, credit, ...holds }
}

describe('an explanation of a task that waits', () => {
  const cases: [string, Task, LaneView | undefined, string][] = [
    ['names its instant', taskIn(waiting(NOW + 90_000)), undefined, 'Attempt 1 is due in 1.5 min.'],
    [
      'says what the attempt before ended with',
      taskIn(waiting(NOW + 1_300, 'retry'), { attemptNumber: 2 }, BUSY),
      viewOf(),
      'Attempt 3 is due in 1.3 s, the last one having ended with http-503.',
    ],
    [
      'says that a gate is closed at present, too',
      taskIn(waiting(NOW + 400)),
      viewOf({ hold: AWAY }),
      'Attempt 1 is due in 400 ms; at present https://api.example asked to be left alone, for another 27 s.',
    ],
    [
      'names the gate that holds what is due, and until when',
      taskIn(waiting(NOW - 3_000)),
      viewOf({ hold: AWAY }),
      'Attempt 1 has been due for 3 s: https://api.example asked to be left alone, for another 27 s.',
    ],
    [
      'names what a gate waits for that knows no instant',
      taskIn(waiting(NOW)),
      viewOf({ hold: { reason: 'concurrency' } }),
      'Attempt 1 is due now: 20 of at most 20 requests to https://api.example are under way, until one of them ends.',
    ],
    [
      'names level, reason and end of a kill switch',
      taskIn(waiting(NOW - 3_000)),
      viewOf({ hold: { reason: 'kill-switch', level: 'dispatch-off', because: 'INC-2231', until: NOW + 60_000 } }),
      'Attempt 1 has been due for 3 s: the kill switch is at dispatch-off ("INC-2231"), for another 1 min.',
    ],
    [
      'names every gate that is shut: whoever opens one would wait for the next',
      taskIn(waiting(NOW - 3_000, 'retry')),
      viewOf({ hold: { reason: 'paused' }, kindHolds: { retry: { reason: 'kill-switch', level: 'retries-off' } } }),
      'Attempt 1 has been due for 3 s: https://api.example is paused, until it is resumed; and the kill switch is at retries-off, until it is ended.',
    ],
    [
      'names the gate that lasts longest first',
      taskIn(waiting(NOW)),
      viewOf({
        hold: {
          ...AWAY,
          others: [{ reason: 'rate-limited', until: NOW + 40_000 }, { reason: 'concurrency' }, { reason: 'paused' }],
        },
      }),
      'Attempt 1 is due now: https://api.example is paused, until it is resumed; and the rate limit of https://api.example is used up, for another 40 s; and https://api.example asked to be left alone, for another 27 s; and 20 of at most 20 requests to https://api.example are under way, until one of them ends.',
    ],
    [
      'names what ends a breaker that was opened by hand',
      taskIn(waiting(NOW)),
      viewOf({ hold: { reason: 'breaker-open' } }),
      'Attempt 1 is due now: the breaker of https://api.example is held open by hand, until an operator sets it to auto.',
    ],
    [
      'names what ends a kill switch that has no end of its own',
      taskIn(waiting(NOW, 'retry'), { attemptNumber: 1 }),
      viewOf({ kindHolds: { retry: { reason: 'kill-switch', level: 'retries-off', because: 'a storm' } } }),
      'Attempt 2 is due now: the kill switch is at retries-off ("a storm"), until it is ended.',
    ],
    [
      'knows the gate that holds the tasks of its policy',
      taskIn(waiting(NOW)),
      viewOf({
        policyHolds: [{ scope: { policyId: 'default' }, hold: { reason: 'kill-switch', level: 'dispatch-off' } }],
      }),
      'Attempt 1 is due now: the kill switch is at dispatch-off, until it is ended.',
    ],
    [
      'says that its destination is paused, and why',
      taskIn(waiting(NOW)),
      viewOf({ hold: { reason: 'paused', because: 'moving house' } }),
      'Attempt 1 is due now: https://api.example is paused ("moving house"), until it is resumed.',
    ],
    [
      'says of a pause by a stop rule that nobody has ordered it',
      taskIn(waiting(NOW)),
      viewOf({ hold: { reason: 'paused', because: '10 of 50 failed', isByOperator: true, isByRule: true } }),
      'Attempt 1 is due now: https://api.example is paused again by its stop rule ("10 of 50 failed"), until it is resumed.',
    ],
    [
      'knows that what was asked for by hand passes no pause of an operator',
      taskIn({ ...waiting(NOW), queue: { policyId: 'default', kind: 'first', rank: 'urgent' } } as TaskState),
      viewOf({ hold: { reason: 'paused', isByOperator: true } }),
      'Attempt 1 is due now: https://api.example is paused by order of an operator, until it is resumed.',
    ],
    [
      'knows that what was asked for by hand passes a pause',
      taskIn({ ...waiting(NOW), queue: { policyId: 'default', kind: 'first', rank: 'urgent' } } as TaskState),
      viewOf({ hold: { reason: 'paused' } }),
      'Attempt 1 is due now; no gate holds it, and it starts when its turn comes.',
    ],
    [
      'knows the gate that holds retries only',
      taskIn(waiting(NOW, 'retry'), { attemptNumber: 1 }),
      viewOf({ kindHolds: { retry: { reason: 'budget', until: NOW + 1_000 } } }),
      'Attempt 2 is due now: the retry budget of https://api.example is empty, for another 1 s.',
    ],
    [
      'knows that another kind of attempt passes it',
      taskIn(waiting(NOW)),
      viewOf({ kindHolds: { retry: { reason: 'budget' }, late: { reason: 'budget' } } }),
      'Attempt 1 is due now; no gate holds it, and it starts when its turn comes.',
    ],
    [
      'says since when a destination has not answered, how often it is asked, and when next',
      taskIn(waiting(NOW, 'late'), { attemptNumber: 4 }),
      viewOf({ kindHolds: { late: OPEN } }),
      'Attempt 5 is due now: nothing but failures has come back from https://api.example for 3 min; one request every 9 s finds out, the next at 00:00:07 UTC.',
    ],
    [
      'says that a destination that answers has not yet answered enough, and that the next request is due',
      taskIn(waiting(NOW, 'retry'), { attemptNumber: 1 }),
      viewOf({ kindHolds: { retry: { reason: 'credit', until: NOW - 1, everyMs: 1_000 } } }),
      'Attempt 2 is due now: https://api.example has to answer before more attempts of this kind are sent; one request every 1 s finds out, the next now.',
    ],
    [
      'warns when the deadline comes before the next request',
      taskIn(waiting(NOW + 1_000, 'retry'), { attemptNumber: 1, expiresAt: NOW + 5_000 }),
      viewOf({ kindHolds: { retry: OPEN } }),
      'Attempt 2 is due in 1 s; at present nothing but failures has come back from https://api.example for 3 min; one request every 9 s finds out, the next at 00:00:07 UTC; and the deadline comes first, in 5 s.',
    ],
    [
      'knows that what was asked for by hand waits for no credit',
      taskIn({ ...waiting(NOW), queue: { policyId: 'default', kind: 'retry', rank: 'urgent' } } as TaskState),
      viewOf({ kindHolds: { retry: OPEN } }),
      'Attempt 1 is due now; no gate holds it, and it starts when its turn comes.',
    ],
    [
      'says so when the deadline comes before the gate opens',
      taskIn(waiting(NOW), { expiresAt: NOW + 5_000 }),
      viewOf({ hold: AWAY }),
      'Attempt 1 is due now: https://api.example asked to be left alone, for another 27 s; and the deadline comes first, in 5 s.',
    ],
    [
      'says so when nobody here serves its lane',
      taskIn(waiting(NOW - 60_000)),
      undefined,
      'Attempt 1 has been due for 1 min, and waits for an instance that serves its destination.',
    ],
    [
      'says so when its deadline has passed',
      taskIn(waiting(NOW), { attemptNumber: 4, expiresAt: NOW - 2 * 3_600_000 }),
      viewOf({ hold: AWAY }),
      'Attempt 5 will not be made, for the deadline passed 2 h ago.',
    ],
  ]
  for (const [title, task, view, sentence] of cases) it(title, () => assert.equal(explain(task, view, NOW), sentence))
})

const CLAIMED: Claimed = { at: NOW, dueAt: NOW, queue: { policyId: 'default', kind: 'first', rank: 'normal' } }

describe('an explanation of a task under way', () => {
  const lease = { token: 'a', endsAt: NOW + 20_000, cancelRequested: false }
  const say = (changes: Partial<typeof lease>): string =>
    explain(
      taskIn({ status: 'IN_FLIGHT', lease: { ...lease, ...changes }, claimed: CLAIMED }),
      viewOf({ hold: AWAY }),
      NOW,
    )

  it('says how long its end is waited for', () => {
    assert.equal(say({}), 'Attempt 1 is under way, and counts as lost unless its end is reported within 20 s.')
    assert.equal(say({ endsAt: NOW - 5 }), 'Attempt 1 should have ended 5 ms ago, and is about to be counted as lost.')
  })

  it('says that somebody wants it cancelled', () => {
    assert.match(say({ cancelRequested: true }), /is being stopped, and unless it succeeds the task ends as cancelled/)
  })
})

describe('an explanation of a task that has ended', () => {
  it('says how, when, and after how many attempts', () => {
    const endedAt = NOW - 300_000
    const after = (state: TaskState, attemptNumber: number): string =>
      explain(taskIn(state, { attemptNumber }, BUSY), undefined, NOW)
    assert.equal(after({ status: 'SUCCEEDED', endedAt }, 3), 'Attempt 3 succeeded 5 min ago.')
    assert.equal(after({ status: 'CANCELLED', endedAt: NOW }, 0), 'Cancelled just now after no attempt.')
    assert.equal(after({ status: 'CANCELLED', endedAt }, 1), 'Cancelled 5 min ago after 1 attempt.')
    assert.equal(
      after({ status: 'EXHAUSTED', endedAt, reason: 'attempts' }, 12),
      'Given up 5 min ago after 12 attempts, the last one having ended with http-503, because its policy allows no more.',
    )
  })

  it('tells a deadline that had come from one that the next attempt could not meet', () => {
    const endedAt = NOW - 500
    const withDeadline = (expiresAt: number): string =>
      explain(
        taskIn({ status: 'EXHAUSTED', endedAt, reason: 'deadline' }, { attemptNumber: 1, expiresAt }),
        undefined,
        NOW,
      )
    assert.equal(withDeadline(endedAt), 'Given up 500 ms ago after 1 attempt, because its deadline had come.')
    assert.equal(
      withDeadline(endedAt + 59_000),
      'Given up 500 ms ago after 1 attempt, because the next attempt would have come too late for its deadline, which was 59 s away.',
    )
  })
})

describe('an explanation of a task that a gate held until its deadline', () => {
  const heldBy = (by: GateReason, attemptNumber: number, since = NOW - 130_000, expiresAt = NOW - 120_000): string => {
    const state = { status: 'EXHAUSTED', endedAt: NOW - 120_000, reason: 'deadline', held: { by, since } } as const
    return explain(taskIn(state, { attemptNumber, expiresAt }, attemptNumber === 0 ? undefined : BUSY), undefined, NOW)
  }

  it('names the gate, since when it held the task, and the attempts made', () => {
    assert.equal(
      heldBy('breaker-open', 3),
      'Given up 2 min ago after 3 attempts, the last one having ended with http-503, because its deadline came while the breaker of https://api.example was open: it was held since 23:57:50 UTC.',
    )
    assert.equal(
      heldBy('paused', 0),
      'Given up 2 min ago after no attempt, because its deadline came while https://api.example was paused: it was held since 23:57:50 UTC.',
    )
  })

  it('says how long ago that was where the time of day is ambiguous', () => {
    assert.match(heldBy('credit', 0, NOW - 90_000_000), /was used up: it was held since 25 h ago\.$/)
  })

  it('says that its deadline was still ahead where an attempt could not have met it', () => {
    assert.equal(
      heldBy('breaker-open', 0, NOW - 130_000, NOW - 110_000),
      'Given up 2 min ago after no attempt, because the next attempt would have come too late for its deadline, which was 10 s away, and the breaker of https://api.example was open.',
    )
  })

  it('has a sentence of its own for each gate', () => {
    const sentences = GATE_REASONS.map(by => heldBy(by, 1))
    assert.equal(new Set(sentences).size, GATE_REASONS.length)
  })
})

describe('every explanation', () => {
  const instant = fc.integer({ min: NOW - 10 ** 9, max: NOW + 10 ** 9 })
  const hold = fc.record(
    { reason: fc.constantFrom(...HOLD_REASONS), until: instant },
    { requiredKeys: ['reason'] },
  ) as fc.Arbitrary<Hold>
  const late = fc.oneof(hold, fc.constant(OPEN))
  const view = fc.option(
    fc.record({ hold, kindHolds: fc.record({ late }) }, { requiredKeys: [] }).map(holds => viewOf(holds as object)),
    { nil: undefined },
  )
  const state = fc.oneof(
    fc.tuple(instant, fc.constantFrom(...laneKind.START_KINDS)).map(([at, kind]) => waiting(at, kind)),
    fc.tuple(instant, fc.boolean()).map(([endsAt, cancelRequested]): TaskState => ({
      status: 'IN_FLIGHT',
      lease: { token: 'a', endsAt, cancelRequested },
      claimed: CLAIMED,
    })),
    fc
      .tuple(instant, fc.constantFrom(...GIVE_UP_REASONS))
      .map(([endedAt, reason]): TaskState => ({ status: 'EXHAUSTED', endedAt, reason })),
  )

  it('is one sentence without holes, whatever the task and its lane', () => {
    fc.assert(
      fc.property(state, view, instant, fc.nat(20), (given, seen, expiresAt, attemptNumber) => {
        const sentence = explain(taskIn(given, { expiresAt, attemptNumber }, BUSY), seen, NOW)
        assert.match(sentence, /^[A-Z].+\.$/)
        assert.doesNotMatch(sentence, /undefined|NaN|Infinity| -\d|\. [A-Z]/)
      }),
    )
  })
})
