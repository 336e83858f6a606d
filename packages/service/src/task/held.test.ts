import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { heldAtDeadline, type Shut } from './held.ts'

const PAUSED: Shut = { by: 'paused', since: 100, until: 200 }
const COMING_BACK: Shut = { by: 'slow-start', since: 200, until: Infinity }

function heldBy(shut: readonly Shut[], dueAt: number, expiresAt: number): string | undefined {
  return heldAtDeadline(shut, { dueAt, expiresAt })?.by
}

describe('a task whose deadline has come', () => {
  it('was held by the gate that was shut then, and since it was due', () => {
    const both = [COMING_BACK, PAUSED]
    assert.deepEqual(heldAtDeadline(both, { dueAt: 50, expiresAt: 150 }), { by: 'paused', since: 50 })
    assert.deepEqual(heldAtDeadline(both, { dueAt: 120, expiresAt: 150 }), { by: 'paused', since: 120 })
    assert.equal(heldBy(both, 120, 300), 'slow-start')
  })

  it('was held by the one that shut last, of several', () => {
    assert.equal(heldBy([{ ...COMING_BACK, since: 10 }, PAUSED], 120, 150), 'paused')
  })

  it('was held by the last one, where it found no other chance after that', () => {
    assert.equal(heldBy([PAUSED], 150, 900), 'paused')
  })

  it('was held by none that had opened before it was due, or shut after its deadline', () => {
    assert.equal(heldBy([PAUSED], 200, 300), undefined)
    assert.equal(heldBy([PAUSED], 10, 99), undefined)
    assert.equal(heldBy([], 10, 99), undefined)
  })

  it('was held by none while it was not due', () => {
    assert.equal(heldBy([PAUSED], 150, 150), undefined)
    assert.equal(heldBy([COMING_BACK], 300, 250), undefined)
  })
})
