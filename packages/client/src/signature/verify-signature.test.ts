import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { virtualClock } from '@secondwind/resilience/testing'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import {
  SignatureError,
  verifySignature,
  type SignatureErrorCode,
  type SignedRequest,
  type VerifiedDelivery,
} from './verify-signature.ts'

/** The vector that Standard Webhooks publishes. */
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const SENT_AT = 1_614_265_330_000
const BODY = '{"test": 2432232314}'
const HEADERS = {
  'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  'webhook-timestamp': '1614265330',
  'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
}
const OTHER_SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`

const at = (instant: number) => ({ ports: { clock: virtualClock({ now: instant }) } })
const verify = (request: Partial<SignedRequest> = {}, secrets: string | string[] = SECRET, now = SENT_AT) =>
  verifySignature({ headers: HEADERS, body: BODY, ...request }, secrets, at(now))

/** How it ends: verified, or with which code. */
async function endOf(verifying: Promise<VerifiedDelivery>): Promise<'verified' | SignatureErrorCode> {
  try {
    assert.equal((await verifying).sentAt, SENT_AT)
    return 'verified'
  } catch (error) {
    assert.ok(error instanceof SignatureError, String(error))
    assert.ok(!error.message.includes(SECRET.slice('whsec_'.length)))
    return error.code
  }
}

describe('a signed delivery', () => {
  it('is what the vector of Standard Webhooks says', async () => {
    const delivery = await verify()
    assert.equal(delivery.taskId, 'msg_p5jXN8AQM9LWM0D4loKWxJek')
    assert.equal(delivery.sentAt, SENT_AT)
    assert.equal(new TextDecoder().decode(delivery.body), BODY)
  })

  it('may come as a Request of the platform, with Headers, with names in capital letters, as bytes', async () => {
    const request = new Request('http://here.test/', { method: 'POST', headers: HEADERS, body: BODY })
    assert.equal(await endOf(verifySignature(request, SECRET, at(SENT_AT))), 'verified')
    assert.equal(await endOf(verify({ headers: new Headers(HEADERS) })), 'verified')
    const capitals = Object.entries(HEADERS).map(([name, value]) => [name.toUpperCase(), value])
    assert.equal(await endOf(verify({ headers: Object.fromEntries(capitals) as typeof HEADERS })), 'verified')
    assert.equal(await endOf(verify({ body: new TextEncoder().encode(BODY) })), 'verified')
  })

  it('is read with a secret without its prefix', async () => {
    assert.equal(await endOf(verify({}, SECRET.slice('whsec_'.length))), 'verified')
  })

  it('needs one signature that fits one of the secrets: one may be replacing the other', async () => {
    assert.equal(await endOf(verify({}, [OTHER_SECRET, SECRET])), 'verified')
    const signature = `v1a,c2lnbmF0dXJl v1,${Buffer.alloc(32).toString('base64')} ${HEADERS['webhook-signature']}`
    assert.equal(
      await endOf(verify({ headers: { ...HEADERS, 'webhook-signature': signature } }, [OTHER_SECRET, SECRET])),
      'verified',
    )
  })

  it('is refused with another secret, another body, another id or another instant', async () => {
    assert.equal(await endOf(verify({}, OTHER_SECRET)), 'signature-wrong')
    assert.equal(await endOf(verify({ body: `${BODY} ` })), 'signature-wrong')
    assert.equal(await endOf(verify({ headers: { ...HEADERS, 'webhook-id': 'msg_another' } })), 'signature-wrong')
    assert.equal(await endOf(verify({ headers: { ...HEADERS, 'webhook-timestamp': '1614265331' } })), 'signature-wrong')
  })

  it('is refused when it was cut at another place: the id of no delivery has a dot', async () => {
    const mac = createHmac('sha256', Buffer.from(SECRET.slice('whsec_'.length), 'base64'))
      .update('a-task.1614265100.1614265330.the rest')
      .digest('base64')
    const headers = { ...HEADERS, 'webhook-id': 'a-task', 'webhook-signature': `v1,${mac}` }
    const whole = { headers: { ...headers, 'webhook-timestamp': '1614265100' }, body: '1614265330.the rest' }
    const cut = { headers: { ...headers, 'webhook-id': 'a-task.1614265100' }, body: 'the rest' }
    assert.equal((await verify(whole)).taskId, 'a-task')
    assert.equal(await endOf(verify(cut)), 'signature-wrong')
  })

  it('is refused whatever else stands in the place of its signature', async () => {
    const signatures = fc.array(
      fc.oneof(
        fc.string(),
        fc.base64String().map(text => `v1,${text}`),
      ),
      { maxLength: 20 },
    )
    await fc.assert(
      fc.asyncProperty(signatures, async texts => {
        const headers = { ...HEADERS, 'webhook-signature': texts.join(' ') || 'v1,' }
        await assert.rejects(verify({ headers }), SignatureError)
      }),
      { numRuns: 50 },
    )
  })

  it('is what anybody signed with the secret, whatever its bytes', async () => {
    const bytes = fc.uint8Array({ maxLength: 300 })
    await fc.assert(
      fc.asyncProperty(bytes, fc.uint8Array({ minLength: 24, maxLength: 64 }), async (body, key) => {
        const mac = createHmac('sha256', key).update('a-task.1614265330.').update(body).digest('base64')
        const headers = { ...HEADERS, 'webhook-id': 'a-task', 'webhook-signature': `v1,${mac}` }
        assert.equal(await endOf(verify({ headers, body }, `whsec_${Buffer.from(key).toString('base64')}`)), 'verified')
      }),
      { numRuns: 50 },
    )
  })

  it('is refused when it is more than five minutes old, or that far ahead, unless told otherwise', async () => {
    assert.equal(await endOf(verify({}, SECRET, SENT_AT + 300_000)), 'verified')
    assert.equal(await endOf(verify({}, SECRET, SENT_AT + 300_001)), 'timestamp-outside')
    assert.equal(await endOf(verify({}, SECRET, SENT_AT - 300_001)), 'timestamp-outside')
    const request = { headers: HEADERS, body: BODY }
    const patient = { toleranceMs: 3_600_000, ...at(SENT_AT + 3_600_000) }
    assert.equal(await endOf(verifySignature(request, SECRET, patient)), 'verified')
  })

  it('is refused unsigned, half signed, and with a header given twice', async () => {
    for (const name of Object.keys(HEADERS))
      for (const value of [undefined, '', [HEADERS['webhook-id'], HEADERS['webhook-id']]])
        assert.equal(await endOf(verify({ headers: { ...HEADERS, [name]: value } })), 'signature-missing')
    for (const timestamp of ['soon', '-1', '1e9', '1614265330.5', '9'.repeat(400)])
      assert.equal(
        await endOf(verify({ headers: { ...HEADERS, 'webhook-timestamp': timestamp } })),
        'signature-missing',
      )
  })
})

describe('verifySignature', () => {
  it('refuses what it cannot use, everything at once, and repeats no secret', async () => {
    const request = { headers: HEADERS, body: BODY }
    const refused = verifySignature(request, ['whsec_%%%', ''], { toleranceMs: -1, tolerance: 5 } as never)
    await assert.rejects(refused, (error: Error) => {
      for (const said of [/secrets\[0\] must/, /secrets\[1\] must/, /toleranceMs must/, /tolerance .*did you mean/])
        assert.match(error.message, said)
      return !error.message.includes('%%%')
    })
    await assert.rejects(verifySignature(request, []), /secrets must hold at least one/)
    await assert.rejects(verifySignature(request, undefined as never), /secrets\[0\] must .* \(is undefined\)/)
    await assert.rejects(verifySignature(request, 'hello'), /secrets\[0\] must .* \(is "\[redacted\]"\)/)
  })
})
