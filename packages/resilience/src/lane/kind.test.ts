import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { kindAfter, START_KINDS } from './kind.ts'

describe('the kind of the next attempt', () => {
  it('is first before any attempt, retry after one to three, late after four or more', () => {
    const kinds = [0, 1, 2, 3, 4, 5, 1_000].map(kindAfter)
    assert.deepEqual(kinds, ['first', 'retry', 'retry', 'retry', 'late', 'late', 'late'])
    assert.deepEqual([...new Set(kinds)], START_KINDS)
  })
})
