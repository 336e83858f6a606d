import assert from 'node:assert/strict'
import { verifySignature } from '@secondwind/client/signature'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import { signatureHeaders } from './signature.ts'
import { World } from './simulation/world.test-kit.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const NEXT_SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
const SENT_AT = 1_614_265_330_999
const MESSAGE = {
  taskId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  body: Buffer.from('{"test": 2432232314}'),
  sentAt: SENT_AT,
}

describe('a signed delivery', () => {
  it('is what the vector of Standard Webhooks says, in whole seconds', () => {
    assert.deepEqual(signatureHeaders(MESSAGE, [SECRET]), {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    })
  })

  it('has a signature for each secret, and either of them verifies it', async () => {
    const headers = signatureHeaders(MESSAGE, [NEXT_SECRET, SECRET])
    assert.match(headers['webhook-signature']!, /^v1,\S+ v1,\S+$/)
    const ports = { clock: virtualClock({ now: SENT_AT }) }
    for (const secret of [SECRET, NEXT_SECRET])
      await verifySignature({ headers, body: MESSAGE.body }, secret, { ports })
  })

  it('is signed without a body, too', async () => {
    const headers = signatureHeaders({ ...MESSAGE, body: null }, [SECRET])
    const ports = { clock: virtualClock({ now: SENT_AT }) }
    const { taskId } = await verifySignature({ headers, body: '' }, SECRET, { ports })
    assert.equal(taskId, MESSAGE.taskId)
  })

  it('is never signed with a key that is none', () => {
    for (const secret of ['', 'whsec_', 'whsec_%%%']) assert.throws(() => signatureHeaders(MESSAGE, [secret]))
  })
})

describe('the dispatcher', () => {
  const BODY = Buffer.from('{"amount":100}')
  const request = { targetUrl: 'https://api.example/charge', method: 'POST', headers: {}, body: BODY }
  const policy = { jitterType: 'NONE', initialDelayMs: 10_000, totalBudgetMs: 600_000 } as const

  it('signs every attempt anew, with the secrets that are in force then', async () => {
    let secrets = [SECRET]
    const asked: string[] = []
    const world = new World({
      behaviourOf: (_, at) => ({ kind: 'answers', status: at < 25_000 ? 503 : 200, ms: 20 }),
      signingSecretsOf: ({ tenant, destination }) => {
        asked.push(`${tenant} ${destination}`)
        return secrets
      },
    })
    world.start()
    await world.clock.advance(20_000)
    const { taskId } = await world.enqueue({ request, policy })
    await world.clock.advance(5_000)
    secrets = [NEXT_SECRET]
    await world.finish(30_000)
    const { clock, destinations } = world
    const sent = destinations.seen.map(({ at, delivery }) => ({ at, headers: delivery.headers }))
    assert.equal(sent.length, 2)
    for (const [index, { at, headers }] of sent.entries()) {
      const ports = { clock: virtualClock({ now: clock.now() - clock.monotonic() + at }) }
      const secret = [SECRET, NEXT_SECRET][index]!
      const verified = await verifySignature({ headers, body: BODY }, secret, { ports, toleranceMs: 1_000 })
      assert.equal(verified.taskId, taskId)
    }
    assert.deepEqual(asked, ['acme https://api.example', 'acme https://api.example'])
  })

  it('leaves unsigned what has no secret', async () => {
    const world = new World({ signingSecretsOf: () => [] })
    world.start()
    await world.clock.advance(20_000)
    await world.enqueue({ request })
    await world.finish(30_000)
    const names = Object.keys(world.destinations.seen[0]!.delivery.headers)
    assert.ok(!names.some(name => name.startsWith('webhook-')))
  })
})
