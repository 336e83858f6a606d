import assert from 'node:assert/strict'
import { virtualClock } from '@secondwind/resilience/testing'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, it } from 'vitest'
import { verifySignature } from './verify-signature.ts'

/** The vector that Standard Webhooks publishes. */
const VECTOR = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  sentAt: 1_614_265_330_000,
  body: '{"test": 2432232314}',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
}

describe('what the library of Standard Webhooks signs', () => {
  it('is verified here, whatever the secret, the id, the second and the text', async () => {
    const key = fc.uint8Array({ minLength: 24, maxLength: 64 })
    const id = fc.stringMatching(/^[\w-]{1,64}$/)
    const second = fc.integer({ min: 1, max: 4_102_444_800 })
    const text = fc.string({ unit: 'grapheme', maxLength: 300 })
    await fc.assert(
      fc.asyncProperty(key, id, second, text, async (bytes, taskId, seconds, body) => {
        const secret = `whsec_${Buffer.from(bytes).toString('base64')}`
        const sentAt = seconds * 1_000
        const headers = {
          'webhook-id': taskId,
          'webhook-timestamp': String(seconds),
          'webhook-signature': new Webhook(secret).sign(taskId, new Date(sentAt), body),
        }
        const ports = { clock: virtualClock({ now: sentAt }) }
        assert.equal((await verifySignature({ headers, body }, secret, { ports })).taskId, taskId)
      }),
      { numRuns: 50 },
    )
  })

  it('is what its own vector says', () => {
    const { secret, id, sentAt, body, signature } = VECTOR
    assert.equal(new Webhook(secret).sign(id, new Date(sentAt), body), signature)
  })
})
