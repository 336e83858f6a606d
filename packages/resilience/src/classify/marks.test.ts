import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { DEFAULT_POLICY } from '../retry/policy.ts'
import { classifyError } from './classify-error.ts'
import { ignored, markOf, permanent, retryAfter, transient } from './marks.ts'
import type { Failure } from './outcome.ts'

const classified = (error: unknown): Failure => classifyError(error, DEFAULT_POLICY.retryableStatusCodes, 0)

describe('a mark', () => {
  it('says what a failure is, though nothing else about the error does', () => {
    assert.deepEqual(classified(transient(new Error('boom'))), { kind: 'failure', fault: 'transient' })
    assert.deepEqual(classified(permanent(new Error('boom'))), { kind: 'failure', fault: 'permanent' })
    assert.deepEqual(classified(ignored(new Error('boom'))), { kind: 'failure', fault: 'ignored' })
    assert.deepEqual(classified(retryAfter(500, new Error('boom'))), {
      kind: 'failure',
      fault: 'throttled',
      retryAfterMs: 500,
    })
  })

  it('outranks a status, a code and a name', () => {
    const error = (): Error => Object.assign(new Error('boom'), { name: 'AbortError', status: 503, code: 'ECONNRESET' })
    assert.equal(classified(permanent(error())).fault, 'permanent')
    assert.equal(classified(transient(error())).fault, 'transient')
  })

  it('is found on a cause', () => {
    assert.equal(classified(new Error('wrapped', { cause: transient(new Error('boom')) })).fault, 'transient')
  })

  it('leaves the error as it was: the same object, with the same fields', () => {
    const error = Object.freeze(new RangeError('boom'))
    assert.equal(transient(error), error)
    assert.deepEqual(Reflect.ownKeys(error), Reflect.ownKeys(new RangeError('boom')))
  })

  it('can be changed: the last one counts', () => {
    const error = new Error('boom')
    assert.equal(classified(permanent(transient(error))).fault, 'permanent')
  })

  it('on what is no object makes an error of it, with the value as its cause', () => {
    const error = transient('boom') as unknown as Error
    assert.ok(error instanceof Error)
    assert.equal(error.message, 'boom')
    assert.equal(error.cause, 'boom')
    assert.equal(classified(error).fault, 'transient')
  })

  it('with a wait that is no wait is permanent: a broken hint is no licence to come back at once', () => {
    for (const ms of [Number.NaN, -1, -Infinity])
      assert.deepEqual(classified(retryAfter(ms, new Error('boom'))), { kind: 'failure', fault: 'permanent' })
  })

  it('is not there unless somebody made it', () => {
    assert.equal(markOf(new Error('boom')), undefined)
  })
})
