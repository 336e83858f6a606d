import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { permanent } from '../classify/marks.ts'
import { classifyDatabaseError } from './classify.ts'

describe('an error of a database', () => {
  it('that somebody has marked is what the mark says', () => {
    const deadlock = Object.assign(new Error('deadlock'), { code: '40P01' })
    assert.equal(classifyDatabaseError(deadlock)?.fault, 'transient')
    assert.equal(classifyDatabaseError(permanent(deadlock))?.fault, 'permanent')
  })

  it('may be anything that can be thrown', () => {
    for (const thrown of [undefined, null, 'no', 40001, Symbol('no'), () => {}])
      assert.equal(classifyDatabaseError(thrown), undefined)
  })

  it('that wraps itself is looked at no deeper than ten causes', () => {
    const error: { cause?: unknown } = {}
    error.cause = error
    assert.equal(classifyDatabaseError(error), undefined)
  })
})
