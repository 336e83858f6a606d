import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { DEFAULT_POLICY, type Outcome, type RetryPolicy } from '@secondwind/resilience'
import { asClaimed, newTask } from '../stores/exam/tasks.test-kit.ts'
import { abandon, expire, lostResult, readAnswer, settle, type AttemptResult, type Telling } from './settle.ts'
import { RANKS, type ClaimedTask, type Progress, type Queue, type QueueKind, type Rank } from './task.ts'

const NOW = 1_767_225_600_000
const POLICY: RetryPolicy = {
  ...DEFAULT_POLICY,
  maxAttempts: 4,
  initialDelayMs: 1_000,
  maxDelayMs: 60_000,
  totalBudgetMs: 600_000,
  jitterType: 'NONE',
}
const MOMENT = { now: NOW + 100, roll: 0, expectedCallMs: 0 }
const BUSY: Outcome = { kind: 'failure', fault: 'transient' }

function claimed(progress: Partial<Progress> = {}, queue: Partial<Queue> = {}): ClaimedTask {
  const task = newTask(1, NOW, {
    queue: { policyId: 'payments', kind: 'first', rank: 'normal', ...queue },
    progress: { expiresAt: NOW + 600_000, ...progress },
  })
  return asClaimed(task, { token: 'my call', endsAt: NOW + 30_000 })
}

function resultOf(outcome: Outcome, more: Partial<AttemptResult> = {}): AttemptResult {
  return { startedAt: NOW, durationMs: 100, outcome, ...more }
}

describe('the end of an attempt', () => {
  it('that succeeded ends the task', () => {
    const { attempt, next, token } = settle(
      claimed(),
      POLICY,
      resultOf({ kind: 'success' }, { responseStatus: 200 }),
      MOMENT,
    )
    assert.equal(token, 'my call')
    assert.equal(next.status, 'SUCCEEDED')
    assert.equal(next.progress.attemptNumber, 1)
    assert.deepEqual(attempt, {
      taskId: claimed().taskId,
      generation: 1,
      attemptNumber: 1,
      startedAt: NOW,
      durationMs: 100,
      outcome: 'success',
      responseStatus: 200,
    })
  })

  it('that failed is followed by another, when the policy says', () => {
    const { attempt, next } = settle(
      claimed({ attemptNumber: 1 }),
      POLICY,
      resultOf(BUSY, { errorCode: 'http-503' }),
      MOMENT,
    )
    assert.equal(attempt?.outcome, 'transient')
    assert.deepEqual(next, {
      status: 'PENDING',
      dueAt: MOMENT.now + 2_000,
      queue: { policyId: 'payments', kind: 'retry', rank: 'normal' },
      progress: { ...claimed().progress, attemptNumber: 2, previousDelayMs: 2_000 },
    })
  })

  it('that failed for good ends the task with the reason of the rule', () => {
    const reasonOf = (task: ClaimedTask, outcome: Outcome): string | undefined => {
      const { next } = settle(task, POLICY, resultOf(outcome), MOMENT)
      return next.status === 'EXHAUSTED' ? next.reason : undefined
    }
    assert.equal(reasonOf(claimed(), { kind: 'failure', fault: 'permanent' }), 'permanent')
    assert.equal(reasonOf(claimed({ attemptNumber: 3 }), BUSY), 'attempts')
    assert.equal(reasonOf(claimed({ expiresAt: NOW + 1_000 }), BUSY), 'deadline')
    assert.equal(reasonOf(claimed(), { ...BUSY, retryAfterMs: 700_000 }), 'retry-after-too-long')
    assert.equal(reasonOf(claimed(), BUSY), undefined)
  })

  it('keeps the deadline that the task was accepted with, though its policy may have another', () => {
    const { next } = settle(
      claimed({ expiresAt: NOW + 9_000_000 }),
      POLICY,
      resultOf({ ...BUSY, retryAfterMs: 650_000 }),
      MOMENT,
    )
    assert.equal(next.status, 'EXHAUSTED')
  })

  it('honours a wait that the server asked for', () => {
    const { next } = settle(claimed(), POLICY, resultOf({ ...BUSY, retryAfterMs: 30_000 }), MOMENT)
    assert.ok(next.status === 'PENDING')
    assert.equal(next.dueAt, MOMENT.now + 30_000)
  })

  it('makes an urgent attempt a normal one again, and leaves every other rank', () => {
    const rankAfter = (rank: Rank): Rank | undefined => {
      const { next } = settle(claimed({}, { rank }), POLICY, resultOf(BUSY), MOMENT)
      return next.status === 'PENDING' ? next.queue.rank : undefined
    }
    assert.deepEqual(RANKS.map(rankAfter), ['normal', 'normal', 'low'])
  })

  it('is followed by a late one after the fourth attempt, and by a retry before', () => {
    const patient = { ...POLICY, maxAttempts: 50 }
    const kindAfter = (attemptNumber: number): QueueKind | undefined => {
      const { next } = settle(claimed({ attemptNumber }), patient, resultOf(BUSY), MOMENT)
      return next.status === 'PENDING' ? next.queue.kind : undefined
    }
    assert.deepEqual([0, 1, 2, 3, 9].map(kindAfter), ['retry', 'retry', 'retry', 'late', 'late'])
  })

  it('counts one attempt, whatever came of it, and writes its row with that number', () => {
    const outcome: fc.Arbitrary<Outcome> = fc.oneof(
      fc.constant<Outcome>({ kind: 'success' }),
      fc.record({
        kind: fc.constant('failure' as const),
        fault: fc.constantFrom('transient', 'throttled', 'ambiguous', 'permanent', 'ignored'),
      }),
    )
    fc.assert(
      fc.property(outcome, fc.nat(10), fc.nat(6), fc.boolean(), (given, attemptNumber, lostCount, isLost) => {
        const task = claimed({ attemptNumber, lostCount })
        const { attempt, next } = settle(task, POLICY, resultOf(given, isLost ? { errorCode: 'lost' } : {}), MOMENT)
        assert.equal(next.progress.attemptNumber, attemptNumber + 1)
        assert.equal(attempt?.attemptNumber, attemptNumber + 1)
        assert.equal(next.progress.lostCount, isLost ? lostCount + 1 : 0)
      }),
    )
  })
})

describe('an attempt that nobody saw end', () => {
  const lost = lostResult(NOW, NOW + 30_000)

  it('counts, and may have been carried out', () => {
    const { attempt, next } = settle(claimed(), POLICY, lost, MOMENT)
    assert.deepEqual([attempt?.outcome, attempt?.errorCode, attempt?.durationMs], ['ambiguous', 'lost', 30_000])
    assert.equal(next.progress.lostCount, 1)
    assert.equal(next.status, 'PENDING')
  })

  it('ends the task the fifth time in a row, with a reason of its own', () => {
    const policy = { ...POLICY, maxAttempts: 100 }
    const next = (lostCount: number) => settle(claimed({ lostCount }), policy, lost, MOMENT).next
    assert.equal(next(3).status, 'PENDING')
    assert.deepEqual([next(4).status, 'reason' in next(4) && next(4)], ['EXHAUSTED', { ...next(4), reason: 'lost' }])
  })

  it('is forgiven by one that was seen', () => {
    assert.equal(settle(claimed({ lostCount: 4 }), POLICY, resultOf(BUSY), MOMENT).next.progress.lostCount, 0)
  })

  it('has lasted no negative time, though a clock went back', () => {
    assert.equal(lostResult(NOW, NOW - 5).durationMs, 0)
  })
})

describe('a task that is not sent', () => {
  it('ends without an attempt: at its deadline, or for a reason that time does not mend', () => {
    const task = claimed({ attemptNumber: 2 })
    const fence = { taskId: task.taskId, token: 'my call' }
    const next = { status: 'EXHAUSTED', progress: task.progress }
    assert.deepEqual(expire(task), { ...fence, next: { ...next, reason: 'deadline' } })
    const held = { by: 'credit', since: NOW } as const
    assert.deepEqual(expire(task, held), { ...fence, next: { ...next, reason: 'deadline', held } })
    assert.deepEqual(abandon(task, 'body-missing'), { ...fence, next: { ...next, reason: 'body-missing' } })
  })
})

const ANSWERED_AT = Date.parse('2026-01-01T00:00:00Z')

const answered = (status: number, headers = {}): Telling => ({
  kind: 'answered',
  status,
  headers,
  response: { headers: {}, body: '', bodyEncoding: 'utf8', truncated: false },
})

const failed = (errorCode: string, code: string, unsent = false): Telling => ({
  kind: 'failed',
  error: Object.assign(new Error(errorCode), { code }),
  errorCode,
  errorMessage: 'in a few words',
  unsent,
})

const outcomeOf = (answer: Telling): Outcome => readAnswer(answer, DEFAULT_POLICY, ANSWERED_AT).outcome

const faultOf = (answer: Telling): string => {
  const outcome = outcomeOf(answer)
  return outcome.kind === 'success' ? 'success' : outcome.fault
}

describe('what a target answered', () => {
  it('is a success from 200 to 299, and nothing to follow from 300 to 399', () => {
    for (const status of [200, 201, 204, 299]) assert.equal(faultOf(answered(status)), 'success')
    for (const status of [300, 301, 302, 307, 308]) assert.equal(faultOf(answered(status)), 'permanent')
    const { errorCode, errorMessage } = readAnswer(answered(302), DEFAULT_POLICY, ANSWERED_AT)
    assert.deepEqual([errorCode, errorMessage], ['http-302', 'the target answered 302; redirects are not followed'])
  })

  it('is judged by the library: retryable, throttled with its wait, ambiguous or permanent', () => {
    assert.equal(faultOf(answered(500)), 'transient')
    assert.equal(faultOf(answered(504)), 'ambiguous')
    assert.equal(faultOf(answered(404)), 'permanent')
    assert.deepEqual(outcomeOf(answered(429, { 'retry-after': '7' })), {
      kind: 'failure',
      fault: 'throttled',
      retryAfterMs: 7_000,
    })
    const byDate = outcomeOf(answered(503, { 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }))
    assert.deepEqual(byDate, { kind: 'failure', fault: 'throttled', retryAfterMs: 30_000 })
  })
})

describe('a request that failed', () => {
  it('without reaching the server is transient, whatever broke', () => {
    for (const code of ['connect-refused', 'dns-failed', 'tls'])
      assert.equal(faultOf(failed(code, '?', true)), 'transient')
  })

  it('on its way is ambiguous, also if nobody knows the error', () => {
    for (const code of ['ECONNRESET', 'UND_ERR_SOCKET', 'HPE_INVALID_CONSTANT', 'UND_ERR_ABORTED'])
      assert.equal(faultOf(failed('reset', code)), 'ambiguous')
    const aborted = failed('aborted', 'ABORT_ERR') as Extract<Telling, { kind: 'failed' }>
    assert.equal(faultOf({ ...aborted, error: new DOMException('cut', 'AbortError') }), 'ambiguous')
  })

  it('because its address is forbidden is permanent', () => {
    assert.equal(faultOf(failed('target-forbidden', 'target-forbidden', true)), 'permanent')
  })

  it('keeps its code and its few words', () => {
    const { errorCode, errorMessage, responseStatus } = readAnswer(
      failed('reset', 'ECONNRESET'),
      DEFAULT_POLICY,
      ANSWERED_AT,
    )
    assert.deepEqual([errorCode, errorMessage, responseStatus], ['reset', 'in a few words', undefined])
  })
})
