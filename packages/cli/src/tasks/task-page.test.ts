import type { RetryTask } from '@secondwind/client'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { createPage } from '../terminal/page.ts'
import { closeBreaker, nextFor, sayBefore, showTask } from './task-page.ts'

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

describe('the page of a dead letter', () => {
  it('names the gate that held it until its deadline, and since when', () => {
    const dead = {
      ...waiting,
      status: 'EXHAUSTED',
      reason: 'deadline',
      heldBy: 'breaker-open',
      heldSince: NOW - 180_000,
      headers: {},
    } as RetryTask
    const page = createPage({ columns: 100, hasColors: false, isAscii: true })
    const since = 'held by breaker-open since 2026-01-01T20:37:00Z, 3 min ago'
    assert.match(showTask(dead, NOW, page), new RegExp(`given up +deadline, ${since}\\n`))
    const { heldBy: _, heldSince: __, ...notHeld } = dead
    assert.match(showTask(notHeld, NOW, page), /given up +deadline\n/)
  })
})

describe('what is proposed for a task', () => {
  it('is no attempt by hand that would be refused, or never made', () => {
    const byHand = 'tasks attempt-now 019a8b1c'
    assert.ok(nextFor(waiting, asking).includes(byHand))
    assert.ok(!nextFor(waiting, asking, { reason: 'store' }).includes(byHand), 'it could not be written')
    assert.ok(!nextFor({ ...waiting, expiresAt: NOW }, asking).includes(byHand), 'its deadline has passed')
  })

  it('behind a pause of a tenant is one attempt that is waited for, and only then the resuming of all', () => {
    assert.deepEqual(nextFor(waiting, asking, { reason: 'paused' }).slice(0, 2), [
      'tasks attempt-now 019a8b1c --wait 30s',
      'resume https://api.example --ramp 5min --stop-on-failure-rate 20%',
    ])
  })

  it('behind a pause of an operator is the resuming, and no attempt: it would wait', () => {
    const lines = nextFor(waiting, asking, { reason: 'paused', isByOperator: true })
    assert.equal(lines[0], 'resume https://api.example --ramp 5min --stop-on-failure-rate 20%')
    assert.ok(!lines.join('\n').includes('attempt-now'))
  })

  it('behind a destination that does not answer is a look at it and an attempt by hand, which needs no credit', () => {
    const open = { reason: 'breaker-open', since: NOW - 60_000, everyMs: 3_000, until: NOW + 1_000 } as const
    const lines = nextFor(waiting, asking, open)
    assert.deepEqual(lines.slice(0, 2), ['tasks watch 019a8b1c', 'destinations get https://api.example'])
    assert.ok(lines.includes('tasks attempt-now 019a8b1c'))
    assert.match(sayBefore(open, asking)!, /^The breaker closes by itself as soon as the target answers\./)
    assert.deepEqual(closeBreaker(open, waiting.destination, asking.typed), [
      'destinations breaker https://api.example --set closed',
    ])
  })

  it('behind a breaker that an operator holds open is the line that lets go of it, and no attempt', () => {
    const lines = nextFor(waiting, asking, { reason: 'breaker-open' })
    assert.equal(lines[0], 'destinations breaker https://api.example --set auto')
    assert.ok(!lines.includes('tasks attempt-now 019a8b1c'))
    assert.deepEqual(closeBreaker({ reason: 'breaker-open' }, waiting.destination, asking.typed), [])
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
