import assert from 'node:assert/strict'
import { Webhook } from 'standardwebhooks'
import { describe, it, vi } from 'vitest'
import { aService, aSink, until, type Arrival } from '../service.test-kit.ts'

// Real sockets, real disks: as long as the machine takes.
vi.setConfig({ testTimeout: 60_000 })

const isSignedWith = (secret: string, { body, headers }: Arrival): boolean => {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>)
    return true
  } catch {
    return false
  }
}

describe('a receiver that has the library of Standard Webhooks', () => {
  it('verifies deliveries and callbacks, with the old secret and the new one while they overlap', async () => {
    const [service, sink] = [await aService(), await aSink()]
    const { body: made } = await service.call('/secrets', {})
    const rotated = await service.call(`/secrets/${made.secretId}/rotate`, { overlapMs: 3_600_000 })
    assert.ok(rotated.status < 300)
    const order = { targetUrl: `${sink.url}/charge`, method: 'POST', body: '{"amount":"100 €"}' }
    await service.call('/retry-tasks', { ...order, callbackUrl: `${sink.url}/ends` })
    await until(
      async () => sink.arrivals,
      arrivals => arrivals.length === 2,
    )
    assert.deepEqual(
      sink.arrivals.map(({ path }) => path),
      ['/charge', '/ends'],
    )
    const stranger = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
    for (const arrival of sink.arrivals) {
      assert.ok(isSignedWith(made.secret, arrival) && isSignedWith(rotated.body.secret, arrival))
      assert.ok(!isSignedWith(stranger, arrival))
      assert.ok(!isSignedWith(made.secret, { ...arrival, body: `${arrival.body} ` }))
    }
  })
})
