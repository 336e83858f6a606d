import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { auditTask, SETTLE_MS, type ShownAttempt, type ShownTask } from './audit.ts'
import type { Life, SinkRequest, TaskEntry } from './ledger.ts'
import { ATTEMPT_TIMEOUT_MS, MAX_ATTEMPTS, type Answer } from './orders.ts'

/** The first process is killed after ten seconds; the second one lives on. */
const LIVES: readonly Life[] = [{ begunAt: 0, killedAt: 10_000 }, { begunAt: 10_050 }]
const KILLED_AT = 10_000

function request(attempt: number, answer: Answer, arrivedAt: number, answeredAt?: number): SinkRequest {
  return { attempt, answer, arrivedAt, ...(answeredAt !== undefined && { answeredAt }) }
}

function row(attemptNumber: number, said: string, startedAt = 0): ShownAttempt {
  if (said === 'success') return { attemptNumber, startedAt, outcome: 'success' }
  return { attemptNumber, startedAt, outcome: said === 'http-400' ? 'permanent' : 'ambiguous', errorCode: said }
}

interface Case {
  readonly requests: readonly SinkRequest[]
  readonly rows: readonly ShownAttempt[]
  readonly shown?: Partial<ShownTask>
  readonly settled?: TaskEntry['settled']
}

function audited({ requests, rows, shown, settled }: Case) {
  const entry: TaskEntry = {
    key: 'key',
    taskId: 'id',
    requests: [...requests],
    submissions: 1,
    ...(settled && { settled }),
  }
  const task = { taskId: 'id', idempotencyKey: 'key', status: 'SUCCEEDED', attemptNumber: rows.length, ...shown }
  return auditTask(entry, task, rows, LIVES)
}

const DELIVERED: Case = {
  requests: [request(1, 'unavailable', 100, 110), request(2, 'success', 200, 210)],
  rows: [row(1, 'http-503'), row(2, 'success')],
}

/** The sink answered, and the process was killed so long afterwards; the next process asked again. */
function repeatedAfter(waitedMs: number): Case {
  const answeredAt = KILLED_AT - waitedMs
  return {
    requests: [request(1, 'success', answeredAt - 10, answeredAt), request(2, 'success', 11_000, 11_010)],
    rows: [row(1, 'lost'), row(2, 'success')],
  }
}

describe('the audit of a task', () => {
  it('finds nothing where each row says what the sink answered', () => {
    assert.deepEqual(audited(DELIVERED), { violations: [], duplicates: 0, lost: 0, unsent: 0, unsettledMs: 0 })
  })

  it('finds a task that is gone', () => {
    const entry: TaskEntry = { key: 'key', taskId: 'id', requests: [], submissions: 1 }
    assert.deepEqual(auditTask(entry, undefined, [], LIVES).violations, ['key is gone'])
  })

  it.each([
    ['has another key', { shown: { idempotencyKey: 'other' } }, 'key: has the key other'],
    [
      'shows another end than a caller saw',
      { settled: { status: 'EXHAUSTED', at: 1 } },
      'key: was seen EXHAUSTED, and is SUCCEEDED',
    ],
    [
      'counts more attempts than its log has',
      { shown: { attemptNumber: 3 } },
      'key: counts 3 attempts, and its log has 2',
    ],
    ['has not ended', { shown: { status: 'PENDING' } }, 'key: is PENDING; by its attempts it is SUCCEEDED'],
  ] as const)('finds a task that %s', (_, change, violation) => {
    assert.deepEqual(audited({ ...DELIVERED, ...change }).violations, [violation])
  })

  it('finds a request that is not in the log', () => {
    const requests = [...DELIVERED.requests, request(3, 'success', 300, 310)]
    const { violations, duplicates } = audited({ ...DELIVERED, requests })
    assert.deepEqual(violations, ['key: attempt 3 reached the sink, and is not in the log'])
    assert.equal(duplicates, 1)
  })

  it('finds a number that was sent twice', () => {
    const requests = [...DELIVERED.requests, request(2, 'success', 300, 310)]
    assert.deepEqual(audited({ ...DELIVERED, requests }).violations, ['key: attempt 2 was sent twice'])
  })

  it('finds a row that says something else than the sink', () => {
    const rows = [row(1, 'reset'), row(2, 'success')]
    assert.deepEqual(audited({ ...DELIVERED, rows }).violations, [
      'key: attempt 1 ended with reset; the sink answered http-503',
    ])
  })

  it('finds a row with an end whose request never came', () => {
    const { violations } = audited({ ...DELIVERED, requests: DELIVERED.requests.slice(1) })
    assert.deepEqual(violations, ['key: attempt 1 ended with http-503, and never reached the sink'])
  })

  it('finds a task that went on after a refusal for good', () => {
    const requests = [request(1, 'refusal', 100, 110), request(2, 'success', 200, 210)]
    const { violations } = audited({ requests, rows: [row(1, 'http-400'), row(2, 'success')] })
    assert.deepEqual(violations, ['key: went on after attempt 1, which ended it'])
  })
})

describe('the end of a task', () => {
  const failures = Array.from({ length: MAX_ATTEMPTS }, (_, index) => index + 1)
  const requests = failures.map(attempt => request(attempt, 'unavailable', attempt * 100, attempt * 100 + 10))
  const rows = failures.map(attempt => row(attempt, 'http-503'))

  it('is EXHAUSTED after its last attempt, and not before', () => {
    const shown = { status: 'EXHAUSTED', reason: 'attempts' }
    assert.deepEqual(audited({ requests, rows, shown }).violations, [])
    const early = audited({ requests: requests.slice(0, -1), rows: rows.slice(0, -1), shown })
    assert.deepEqual(early.violations, ['key: is EXHAUSTED (attempts), though its attempts do not end it'])
  })

  it('has the reason that its attempts give', () => {
    const refused = { requests: [request(1, 'refusal', 100, 110)], rows: [row(1, 'http-400')] }
    const shown = { status: 'EXHAUSTED', reason: 'attempts' }
    assert.deepEqual(audited({ ...refused, shown: { ...shown, reason: 'permanent' } }).violations, [])
    assert.deepEqual(audited({ ...refused, shown }).violations, [
      'key: is EXHAUSTED (attempts); by its attempts it is EXHAUSTED (permanent)',
    ])
  })
})

describe('a lost attempt', () => {
  it('explains a duplicate if the kill came before the answer could be settled', () => {
    const { violations, duplicates, lost, unsettledMs } = audited(repeatedAfter(SETTLE_MS))
    assert.deepEqual([violations, duplicates, lost, unsettledMs], [[], 1, 1, SETTLE_MS])
  })

  it('explains nothing if its process lived on after the answer', () => {
    assert.deepEqual(audited(repeatedAfter(SETTLE_MS + 1)).violations, [
      `key: attempt 1 is lost, though its answer came ${SETTLE_MS + 1} ms before the kill`,
    ])
  })

  it('explains nothing if its process was not killed', () => {
    const requests = [request(1, 'success', 11_000, 11_010), request(2, 'success', 12_000, 12_010)]
    const { violations } = audited({ requests, rows: [row(1, 'lost'), row(2, 'success')] })
    assert.deepEqual(violations, ['key: attempt 1 is lost, and the service was not killed'])
  })

  it('explains nothing if the same process asked again', () => {
    const requests = [request(1, 'success', 9_900, 9_910), request(2, 'success', 9_950, 9_960)]
    const { violations } = audited({ requests, rows: [row(1, 'lost'), row(2, 'success')] })
    assert.deepEqual(violations, ['key: attempt 1 is lost, and another was sent before the service was killed'])
  })

  it('may have waited for an answer until the kill, for as long as an attempt may last', () => {
    const waitedFor = (ms: number): readonly string[] => {
      const requests = [request(1, 'silence', KILLED_AT - ms), request(2, 'success', 11_000, 11_010)]
      return audited({ requests, rows: [row(1, 'lost'), row(2, 'success')] }).violations
    }
    assert.deepEqual(waitedFor(ATTEMPT_TIMEOUT_MS), [])
    const tooLong = ATTEMPT_TIMEOUT_MS + SETTLE_MS + 1
    assert.deepEqual(waitedFor(tooLong), [`key: attempt 1 is lost, though it was sent ${tooLong} ms before the kill`])
  })

  it('may never have reached the sink, if it began right before a kill', () => {
    const beganAt = (startedAt: number) =>
      audited({
        requests: [request(2, 'success', 11_000, 11_010)],
        rows: [row(1, 'lost', startedAt), row(2, 'success')],
      })
    assert.deepEqual([beganAt(9_990).violations, beganAt(9_990).unsent], [[], 1])
    const say = 'key: attempt 1 is lost, never reached the sink, and the service was not killed then'
    assert.deepEqual(beganAt(1_000).violations, [say])
  })

  it('ends a task after five in a row', () => {
    const rows = [1, 2, 3, 4, 5].map(attempt => row(attempt, 'lost', 9_990))
    const shown = { status: 'EXHAUSTED', reason: 'lost' }
    assert.deepEqual(audited({ requests: [], rows, shown }).violations, [])
  })
})
