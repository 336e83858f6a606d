import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { AttemptTimeoutError } from '../errors.ts'
import { DEFAULT_POLICY } from '../retry/policy.ts'
import { classifyError } from './classify-error.ts'
import { FAULTS, type Failure } from './outcome.ts'

const classified = (error: unknown): Failure => classifyError(error, DEFAULT_POLICY.retryableStatusCodes, 0)

/** Values as they are found in errors: not those whose own `toString` is no function. */
const anything = fc.anything({ key: fc.string().map(key => `_${key}`) })

/** Objects with the fields that are read, holding anything. */
const anyErrorLike = fc.letrec<{ error: object }>(tie => ({
  error: fc.record(
    {
      name: fc.oneof(fc.constantFrom('Error', 'TypeError', 'AbortError', 'TimeoutError'), anything),
      message: fc.oneof(fc.constant('fetch failed'), anything),
      code: fc.oneof(fc.constantFrom('ECONNRESET', 'ECONNREFUSED', 23), anything),
      status: fc.oneof(fc.integer({ min: 0, max: 999 }), anything),
      statusCode: anything,
      headers: fc.oneof(fc.constantFrom(null, { 'retry-after': '5' }), anything),
      response: fc.oneof(fc.record({ status: anything, headers: anything }), anything),
      $metadata: fc.oneof(fc.record({ httpStatusCode: anything }), anything),
      cause: fc.oneof({ depthSize: 'small' }, anything, tie('error')),
      errors: fc.oneof({ depthSize: 'small' }, anything, fc.array(tie('error'), { maxLength: 2 })),
    },
    { requiredKeys: [] },
  ),
})).error

describe('classifying', () => {
  it('always comes to a fault, whatever was thrown', () => {
    fc.assert(
      fc.property(fc.oneof(anyErrorLike, anything), thrown => {
        const { kind, fault, retryAfterMs } = classified(thrown)
        assert.equal(kind, 'failure')
        assert.ok(FAULTS.includes(fault))
        assert.ok(retryAfterMs === undefined || retryAfterMs >= 0)
      }),
      { numRuns: 2_000 },
    )
  })

  it('does not change what was thrown', () => {
    fc.assert(
      fc.property(anyErrorLike, thrown => {
        classified(Object.freeze(thrown))
      }),
    )
  })

  it('takes nothing for granted: only what is known to pass is retried', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (name, message) => {
        fc.pre(!['AbortError', 'TimeoutError', 'TypeError'].includes(name))
        assert.deepEqual(classified(Object.assign(new Error(message), { name })), {
          kind: 'failure',
          fault: 'permanent',
          unknown: true,
        })
      }),
    )
  })

  it('ends where errors cause each other', () => {
    const one = new Error('one')
    const other = new Error('other', { cause: one })
    one.cause = other
    assert.equal(classified(one).unknown, true)
    one.cause = one
    assert.equal(classified(one).unknown, true)
  })

  it('knows the real thing: a signal that timed out, and one that was aborted', async () => {
    assert.deepEqual(classified(new DOMException('The operation timed out.', 'TimeoutError')), {
      kind: 'failure',
      fault: 'ambiguous',
    })
    assert.deepEqual(classified(AbortSignal.abort().reason), { kind: 'failure', fault: 'ignored' })
  })

  it('knows the real thing: an AggregateError of connections that were refused', () => {
    const refused = (address: string): Error =>
      Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: 'ECONNREFUSED' })
    const cause = Object.assign(new AggregateError([refused('::1'), refused('127.0.0.1')]), { code: 'ECONNREFUSED' })
    assert.deepEqual(classified(new TypeError('fetch failed', { cause })), {
      kind: 'failure',
      fault: 'transient',
      unsent: true,
    })
  })

  it('reads the wait of a response that carries Headers', () => {
    const error = Object.assign(new Error('429'), {
      response: new Response(null, { status: 429, headers: { 'Retry-After': '3' } }),
    })
    assert.deepEqual(classified(error), { kind: 'failure', fault: 'throttled', retryAfterMs: 3_000 })
  })

  it('believes a cause that has a code of its own more than "fetch failed"', () => {
    const expired = Object.assign(new Error('certificate has expired'), { code: 'CERT_HAS_EXPIRED' })
    assert.equal(classified(new TypeError('fetch failed', { cause: expired })).fault, 'permanent')
    assert.equal(classified(new TypeError('fetch failed')).fault, 'ambiguous')
    assert.equal(classified(new TypeError('Failed to fetch')).fault, 'ambiguous')
  })

  it('takes the time-out of an inner retry for a time-out, and a cancelled request for no failure of the server', () => {
    assert.equal(classified(new AttemptTimeoutError(1, 10)).fault, 'ambiguous')
    assert.equal(classified(Object.assign(new Error('canceled'), { code: 'ERR_CANCELED' })).fault, 'ignored')
  })
})
