import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { seededRandom } from '@secondwind/resilience/testing'
import { asClaimed, newTask } from '../stores/exam/tasks.test-kit.ts'
import type { ClaimedTask } from '../task/task.ts'
import { headersOf } from './attempt-headers.ts'

function claimed(headers: { readonly [name: string]: string } = {}, attemptNumber = 0): ClaimedTask {
  const request = { targetUrl: 'https://api.example/', method: 'POST', headers, body: null }
  return asClaimed(
    newTask(1, 1_767_225_600_000, { idempotencyKey: 'order-8812', request, progress: { attemptNumber } }),
    {
      token: 't',
      endsAt: 0,
    },
  )
}

const PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

describe('what an attempt says of itself', () => {
  it('is its key, its ordinal and the time that is left', () => {
    const { traceparent: _, ...headers } = headersOf(claimed({}, 2), 1_499.2, seededRandom(1))
    assert.deepEqual(headers, { 'idempotency-key': 'order-8812', 'retry-attempt': '3', 'x-timeout-ms': '1500' })
  })

  it("is a place in the caller's trace, another one for each attempt", () => {
    const random = seededRandom(1)
    const traces = [1, 2].map(() => headersOf(claimed({ Traceparent: PARENT }), 1, random)['traceparent']!)
    for (const trace of traces) assert.match(trace, /^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-01$/)
    assert.equal(new Set([...traces, PARENT]).size, 3)
  })

  it("is in a trace of the task's own where the caller gave none, or none that can be read", () => {
    for (const traceparent of [undefined, 'ff-00', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`]) {
      const task = claimed(traceparent === undefined ? {} : { traceparent })
      const trace = headersOf(task, 1, seededRandom(1))['traceparent']!
      assert.match(trace, /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
      assert.equal(trace.slice(3, 35), task.taskId.replaceAll('-', ''))
    }
  })
})
