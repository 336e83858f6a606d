import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { DEFAULT_POLICY } from '../retry/policy.ts'
import { classifyStatus } from './status.ts'

const anyStatus = fc.integer({ min: 100, max: 599 })

describe('a status', () => {
  it('is retried exactly when the policy names it', () => {
    fc.assert(
      fc.property(anyStatus, fc.array(anyStatus), (status, retryable) => {
        const outcome = classifyStatus(status, retryable)
        const isRetried = outcome.kind === 'failure' && outcome.fault !== 'permanent'
        assert.equal(isRetried, retryable.includes(status))
      }),
    )
  })

  it('that is not named is a success below 400 and permanent from there on', () => {
    fc.assert(
      fc.property(anyStatus, status => {
        fc.pre(!DEFAULT_POLICY.retryableStatusCodes.includes(status))
        const outcome = classifyStatus(status, DEFAULT_POLICY.retryableStatusCodes)
        assert.deepEqual(outcome, status < 400 ? { kind: 'success' } : { kind: 'failure', fault: 'permanent' })
      }),
    )
  })

  it('keeps the wait that came with it, if it is retried', () => {
    fc.assert(
      fc.property(fc.constantFrom(...DEFAULT_POLICY.retryableStatusCodes), fc.nat(), (status, retryAfterMs) => {
        const outcome = classifyStatus(status, DEFAULT_POLICY.retryableStatusCodes, retryAfterMs)
        assert.ok(outcome.kind === 'failure' && outcome.retryAfterMs === retryAfterMs)
      }),
    )
  })
})
