import type { RetryTask } from '@secondwind/client'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { nextFor } from './task-page.ts'

const NOW = 1_767_300_000_000

const waiting = {
  taskId: '019a8b1c',
  status: 'PENDING',
  destination: 'https://api.example',
  expiresAt: NOW + 1_000,
} as RetryTask

const asking = {
  typed: (...words: string[]) => words.join(' '),
  hasKey: false,
  clock: { now: () => NOW },
}

describe('what is proposed for a task', () => {
  it('is no attempt by hand that would be refused, or never made', () => {
    const byHand = 'tasks attempt-now 019a8b1c'
    assert.ok(nextFor(waiting, asking).includes(byHand))
    assert.ok(!nextFor(waiting, asking, { reason: 'store' }).includes(byHand), 'it could not be written')
    assert.ok(!nextFor({ ...waiting, expiresAt: NOW }, asking).includes(byHand), 'its deadline has passed')
  })

  it('behind a pause is one attempt that is waited for, and only then the resuming of all', () => {
    assert.deepEqual(nextFor(waiting, asking, { reason: 'paused' }).slice(0, 2), [
      'tasks attempt-now 019a8b1c --wait 30s',
      'resume https://api.example --ramp 5min --stop-on-failure-rate 20%',
    ])
  })

  it('behind a pause of its tenant is the resuming for that tenant; behind one of an operator for all', () => {
    const task = { ...waiting, tenant: 'acme' } as RetryTask
    assert.match(nextFor(task, asking, { reason: 'paused' })[1]!, / --tenant acme$/)
    assert.doesNotMatch(nextFor(task, asking, { reason: 'paused', isByOperator: true }).join(' '), /acme/)
  })

  it('is the upload of a body that is gone, before the replay that needs it', () => {
    const dead = { ...waiting, status: 'EXHAUSTED', reason: 'body-missing' } as RetryTask
    assert.deepEqual(nextFor(dead, asking), ['tasks attempts 019a8b1c', 'bodies put FILE', 'tasks replay 019a8b1c'])
  })

  it('is the upload for the tenant whose body it was, where nobody has named one', () => {
    const dead = { ...waiting, status: 'EXHAUSTED', reason: 'body-missing', tenant: 'acme' } as RetryTask
    assert.equal(nextFor(dead, asking)[1], 'bodies put FILE --tenant acme')
    assert.equal(nextFor(dead, { ...asking, tenant: 'acme' })[1], 'bodies put FILE')
  })
})
