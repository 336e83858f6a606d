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

  it('says nothing by what cannot be read, and the rest by what can', () => {
    const unreadable = (...fields: readonly string[]): object => {
      const get = (): never => {
        throw new Error('not to be read')
      }
      return Object.defineProperties({}, Object.fromEntries(fields.map(field => [field, { get }])))
    }
    const { proxy, revoke } = Proxy.revocable([], {})
    revoke()
    for (const code of [Object.create(null), Symbol('no'), { toString: null }, proxy])
      assert.equal(classifyDatabaseError({ code }), undefined)
    for (const field of [
      'code',
      'sqlState',
      'errno',
      'number',
      'errcode',
      'errorLabels',
      'message',
      'cause',
      'original',
    ])
      assert.equal(classifyDatabaseError(unreadable(field)), undefined)
    assert.equal(classifyDatabaseError({ errorLabels: proxy }), undefined)
    assert.equal(classifyDatabaseError(Object.assign(unreadable('code'), { errno: 1213 }))?.unsent, true)
    assert.equal(classifyDatabaseError(Object.assign(unreadable('cause'), { original: { errno: 1213 } }))?.unsent, true)
  })

  it('that wraps itself is looked at no deeper than ten causes', () => {
    const error: { cause?: unknown } = {}
    error.cause = error
    assert.equal(classifyDatabaseError(error), undefined)
  })
})
