import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { createClient } from '../client.ts'
import { refusal, scriptedClient, SERVICE } from '../client.test-kit.ts'
import { ServiceError } from '../errors.ts'

const KEY_ID = '0123456789abcdef'

describe('a client with a key', () => {
  it('sends it with every call, and the tenant that it acts for', async () => {
    const { client, server, end } = scriptedClient([{ body: { items: [] } }], { key: 'swk_a_b', tenant: 'acme' })
    await end(client.tasks.list().page())
    const { headers } = server.requests[0]!
    assert.deepEqual([headers['authorization'], headers['secondwind-tenant']], ['Bearer swk_a_b', 'acme'])
  })

  it('refuses what can be none, and does not show it', () => {
    const secret = 'hunter 2\nhunter 3'
    for (const options of [{ key: secret }, { apiKey: secret }, { token: secret }])
      assert.throws(
        () => createClient({ url: SERVICE, ...options }),
        (error: Error) => !JSON.stringify([error.message, error]).includes('hunter'),
      )
    assert.throws(() => createClient({ url: SERVICE, tenant: 'ACME corp' }), /tenant must be a name of 1 to 63/)
  })
})

describe('keys, secrets and tenants', () => {
  it('are made and rotated once for each call: twice would be two', async () => {
    const busy = refusal(503, 'store-unreachable')
    const { client, server, end } = scriptedClient([busy, busy, busy, busy, busy])
    const calls: readonly (() => Promise<unknown>)[] = [
      () => client.keys.create({ scopes: ['read'] }),
      () => client.keys.rotate(KEY_ID),
      () => client.secrets.create(),
      () => client.secrets.rotate(KEY_ID, { overlapMs: 60_000 }),
      () => client.tenants.create({ tenant: 'acme' }),
    ]
    for (const call of calls) await assert.rejects(end(call()), ServiceError)
    assert.deepEqual(
      server.requests.map(({ path }) => path),
      ['/keys', `/keys/${KEY_ID}/rotate`, '/secrets', `/secrets/${KEY_ID}/rotate`, '/tenants'],
    )
  })

  it('are made by an answer that shows them: one without is somebody else’s', async () => {
    const { client, end } = scriptedClient([{ body: { keyId: KEY_ID, secretId: KEY_ID } }])
    const calls: readonly (() => Promise<unknown>)[] = [
      () => client.keys.create({ scopes: ['read'] }),
      () => client.keys.rotate(KEY_ID),
      () => client.secrets.create(),
      () => client.secrets.rotate(KEY_ID),
    ]
    for (const call of calls) await assert.rejects(end(call()), { code: 'unexpected-answer' })
  })

  it('are ended with a reason, which goes into the audit', async () => {
    const { client, server, end } = scriptedClient([{ body: { keyId: KEY_ID } }, { body: { secretId: KEY_ID } }])
    await end(client.keys.revoke(KEY_ID, { reason: 'left the team' }))
    await end(client.secrets.remove(KEY_ID))
    assert.deepEqual(
      server.requests.map(({ method, path }) => `${method} ${path}`),
      [`DELETE /keys/${KEY_ID}?reason=left+the+team`, `DELETE /secrets/${KEY_ID}`],
    )
  })

  it('are refused before anything is sent where they can be none', async () => {
    const { client, server } = scriptedClient([{ body: {} }])
    await assert.rejects(
      client.keys.create({ scopes: ['everything'] as never }),
      /scopes must be a list of enqueue, read/,
    )
    await assert.rejects(client.keys.create({} as never), /scopes must be/)
    await assert.rejects(client.keys.revoke('../tasks'), /keyId must be an id/)
    await assert.rejects(client.secrets.rotate(KEY_ID, { overlapMs: -1 }), /overlapMs must be/)
    await assert.rejects(client.tenants.create({ tenant: 'A B' }), /tenant must be/)
    assert.throws(() => client.audit({ since: 5 }), /since must be an instant/)
    assert.equal(server.requests.length, 0)
  })

  it('are listed page by page, and so is who did what', async () => {
    const page = { body: { items: [{}] } }
    const { client, server, end } = scriptedClient([page, page, page, page])
    await end(client.keys.list({ all: true }).page())
    await end(client.secrets.list().page({ limit: 5 }))
    await end(client.tenants.list().page())
    await end(client.audit({ action: 'task.cancel' }).page())
    assert.deepEqual(
      server.requests.map(({ path }) => path),
      ['/keys?all=true', '/secrets?limit=5', '/tenants', '/audit?action=task.cancel'],
    )
  })
})
