import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { checkCounters } from './counters.ts'
import { Ledger } from './ledger.ts'
import type { Shown } from './readings.ts'

/** One task, which the first process lost and the second one delivered. */
function aRun(): { readonly ledger: Ledger; readonly shown: Shown } {
  const ledger = new Ledger(() => undefined)
  ledger.begun(0)
  ledger.submitted('key', 1)
  ledger.accepted('key', { taskId: 'id', isCreated: true }, 2)
  ledger.arrived('key', { attempt: 1, arrivedAt: 3, answer: 'success' })
  ledger.killed(4)
  ledger.begun(5)
  ledger.arrived('key', { attempt: 2, arrivedAt: 6, answer: 'success', answeredAt: 7 })
  const task = ledger.tasks.get('key')
  assert.ok(task)
  ledger.settled(task, 'SUCCEEDED', 8)
  const counted = { inFlight: 0, backlog: 0, succeeded: 1, exhausted: 0, cancelled: 0, attempts: 2 }
  const shown = {
    tasks: new Map([['id', { taskId: 'id', idempotencyKey: 'key', status: 'SUCCEEDED', attemptNumber: 2 }]]),
    attempts: new Map([
      [
        'id',
        [
          { attemptNumber: 1, startedAt: 3, outcome: 'ambiguous', errorCode: 'lost' },
          { attemptNumber: 2, startedAt: 6, outcome: 'success' },
        ],
      ],
    ]),
    deadLetters: 0,
    destinations: [{ destination: 'http://127.0.0.1:1', ...counted }],
    metrics: new Map([
      ...['PENDING', 'IN_FLIGHT', 'EXHAUSTED', 'CANCELLED'].map(
        status => [`retry_tasks{status="${status}"}`, 0] as const,
      ),
      ['retry_tasks{status="SUCCEEDED"}', 1],
      ['retry_attempts_total{outcome="success",policy="inline"}', 1],
      ['retry_attempts_total{outcome="transient",policy="inline"}', 0],
      ['retry_attempts_total{outcome="permanent",policy="inline"}', 0],
    ]),
  }
  return { ledger, shown }
}

describe('the counters of the service', () => {
  it('agree with the ledger: of attempts the metrics count those of the last process', () => {
    const { ledger, shown } = aRun()
    assert.deepEqual(checkCounters(ledger, shown), [])
  })

  it('are compared one by one', () => {
    const { ledger, shown } = aRun()
    const metrics = new Map([...shown.metrics, ['retry_attempts_total{outcome="success",policy="inline"}', 2]])
    metrics.delete('retry_tasks{status="PENDING"}')
    assert.deepEqual(checkCounters(ledger, { ...shown, metrics, deadLetters: 1 }), [
      'dead letters: 1, and 0 by the ledger',
      'retry_tasks{status="PENDING"}: none, and 0 by the ledger',
      'retry_attempts_total{outcome="success",policy="inline"}: 2, and 1 by the ledger',
    ])
  })

  it('count a task that no caller was told of', () => {
    const { ledger, shown } = aRun()
    const [task] = shown.tasks.values()
    assert.ok(task)
    const tasks = new Map([...shown.tasks, ['other', task]])
    assert.deepEqual(checkCounters(ledger, { ...shown, tasks }), ['tasks in the list: 2, and 1 by the ledger'])
  })
})
