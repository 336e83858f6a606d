import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { DEFAULT_POLICY, delayRange, type RetryPolicy } from '@secondwind/resilience'
import { accept, replayed, type PolicyInForce, type TaskOrder } from './accept.ts'

const NOW = 1_767_225_600_000
const DOCUMENT: RetryPolicy = {
  ...DEFAULT_POLICY,
  initialDelayMs: 1_000,
  totalBudgetMs: 3_600_000,
  attemptTimeoutMs: 15_000,
}
const POLICY: PolicyInForce = { policyId: 'payments', version: 3, document: DOCUMENT, isInline: false }
const ORDER: TaskOrder = {
  taskId: '019b0000-0000-7000-8000-000000000000',
  tenant: 'acme',
  destination: 'https://api.example',
  request: { targetUrl: 'https://api.example/charge', method: 'POST', headers: {}, body: null },
  createdBy: '8f2a41c09d3b7e65',
  requestHash: 'hash',
}

function accepted(order: Partial<TaskOrder> = {}, policy: Partial<PolicyInForce> = {}, roll = 0.5) {
  return accept({ ...ORDER, ...order }, { ...POLICY, ...policy }, { now: NOW, roll })
}

describe('a task that is accepted', () => {
  it('is due at once, has made no attempt, and has the whole of its deadline', () => {
    assert.deepEqual(accepted(), {
      taskId: ORDER.taskId,
      tenant: 'acme',
      destination: 'https://api.example',
      policyId: 'payments',
      policyVersion: 3,
      idempotencyKey: ORDER.taskId,
      request: ORDER.request,
      createdAt: NOW,
      createdBy: '8f2a41c09d3b7e65',
      leaseMs: 30_000,
      progress: {
        generation: 1,
        attemptNumber: 0,
        lostCount: 0,
        startedAt: NOW,
        previousDelayMs: 1_000,
        expiresAt: NOW + 3_600_000,
      },
      queue: { policyId: 'payments', kind: 'first', rank: 'normal' },
      dueAt: NOW,
      requestHash: 'hash',
      keyGiven: false,
    })
  })

  it('keeps the key that it was given, and knows that it was', () => {
    const { idempotencyKey, keyGiven } = accepted({ idempotencyKey: 'order-8812' })
    assert.deepEqual([idempotencyKey, keyGiven], ['order-8812', true])
  })

  it('keeps a policy of its own, and no other', () => {
    assert.deepEqual(accepted({}, { isInline: true }).policy, DOCUMENT)
    assert.equal('policy' in accepted(), false)
  })

  it('waits as long as it was asked to, and its time counts from then', () => {
    for (const order of [{ delayMs: 60_000 }, { notBefore: NOW + 60_000 }]) {
      const { dueAt, progress, createdAt } = accepted(order)
      assert.deepEqual([createdAt, dueAt, progress.startedAt], [NOW, NOW + 60_000, NOW + 60_000])
      assert.equal(progress.expiresAt, NOW + 60_000 + 3_600_000)
    }
  })

  it('is due now if it was asked to be earlier', () => {
    const { dueAt, progress } = accepted({ notBefore: NOW - 60_000 })
    assert.deepEqual([dueAt, progress.startedAt], [NOW, NOW])
  })

  it('has the earlier of two deadlines', () => {
    assert.equal(accepted({ deadlineAt: NOW + 5 }).progress.expiresAt, NOW + 5)
    assert.equal(accepted({ deadlineAt: NOW + 7_200_000 }).progress.expiresAt, NOW + 3_600_000)
    assert.equal(accepted({ deadlineAt: NOW + 7_200_000 }).deadlineAt, NOW + 7_200_000)
  })

  it('that was handed over goes on: attempts and time spent count, and the next wait is the policy’s', () => {
    const { progress, queue, dueAt } = accepted({ attemptsMade: 2, elapsedMs: 7_000 })
    assert.deepEqual([progress.attemptNumber, progress.startedAt, queue.kind], [2, NOW - 7_000, 'retry'])
    assert.equal(progress.expiresAt, NOW - 7_000 + 3_600_000)
    assert.equal(dueAt, NOW + 1_000) // half of what FULL allows after two attempts
  })

  it('that was handed over stands among the tasks with as many attempts', () => {
    const kinds = [0, 1, 3, 4].map(attemptsMade => accepted({ attemptsMade }).queue.kind)
    assert.deepEqual(kinds, ['first', 'retry', 'retry', 'late'])
  })

  it('that was handed over with an instant of its own keeps it', () => {
    assert.equal(accepted({ attemptsMade: 2, delayMs: 0 }).dueAt, NOW)
    assert.equal(accepted({ attemptsMade: 2, notBefore: NOW + 9 }).dueAt, NOW + 9)
  })

  it('never waits longer than its policy allows after so many attempts, nor shorter', () => {
    const anyPolicy = fc.record({
      initialDelayMs: fc.nat(5_000),
      maxDelayMs: fc.integer({ min: 5_000, max: 100_000 }),
      jitterType: fc.constantFrom('NONE', 'FULL', 'EQUAL', 'DECORRELATED'),
    })
    fc.assert(
      fc.property(
        anyPolicy,
        fc.integer({ min: 1, max: 50 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (some, attemptsMade, roll) => {
          const document = { ...DOCUMENT, ...some } as RetryPolicy
          const { dueAt, progress } = accepted({ attemptsMade }, { document }, roll)
          const { minMs, maxMs } = delayRange(document, {
            attempt: attemptsMade,
            previousDelayMs: document.initialDelayMs,
          })
          assert.ok(dueAt - NOW >= minMs && dueAt - NOW <= maxMs)
          assert.ok(progress.previousDelayMs >= document.initialDelayMs)
        },
      ),
    )
  })
})

describe('a replay', () => {
  it('begins anew: the next generation, no attempt made, time from now, without the first life’s deadline', () => {
    const before = accepted({ deadlineAt: NOW + 5, attemptsMade: 2 })
    assert.deepEqual(replayed(before, DOCUMENT, NOW + 1_000_000), {
      generation: 2,
      attemptNumber: 0,
      lostCount: 0,
      startedAt: NOW + 1_000_000,
      previousDelayMs: 1_000,
      expiresAt: NOW + 1_000_000 + 3_600_000,
    })
  })
})
