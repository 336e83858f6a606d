import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { bindCursor, openCursor } from './bound-cursor.ts'

describe('a cursor that is bound to its question', () => {
  it('leads on under the same question, in whatever order it is asked', () => {
    const { nextCursor } = bindCursor({ items: [], nextCursor: 'place' }, { status: 'PENDING', policyId: 'a' })
    const again = { policyId: 'a', status: 'PENDING', destination: undefined }
    assert.deepEqual(openCursor(nextCursor, again), { cursor: 'place' })
    assert.deepEqual(openCursor(undefined, again), {})
  })

  it('is refused under any other', () => {
    const { nextCursor } = bindCursor({ items: [], nextCursor: 'place' }, { status: 'PENDING' })
    for (const other of [{}, { status: 'EXHAUSTED' }, { status: 'PENDING', policyId: 'a' }])
      assert.throws(() => openCursor(nextCursor, other), { code: 'invalid-cursor' })
    assert.throws(() => openCursor('place', { status: 'PENDING' }), { code: 'invalid-cursor' })
  })

  it('is none where the list has ended', () => {
    assert.deepEqual(bindCursor({ items: [] }, { status: 'PENDING' }), { items: [] })
  })
})
