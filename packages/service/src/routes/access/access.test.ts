import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { SCOPES, type Scope } from '../../access/caller.ts'
import type { AuditEntry } from '../../stores/store.ts'
import { refusalOf, serve, type Answered, type Served } from '../api.test-kit.ts'
import { guarded } from './guarded.test-kit.ts'

const TASK = { targetUrl: 'https://api.example/charge', body: 'a', idempotencyKey: 'k1' }

describe('a service with keys', () => {
  it('answers nobody without one, but for its health and its description', async () => {
    const { as } = await guarded()
    for (const path of ['/retry-tasks', '/metrics', '/keys', '/audit', '/destinations', '/retry-policies']) {
      const { status, headers, json } = await as('GET', path)
      assert.equal(status, 401, path)
      assert.equal(headers['www-authenticate'], 'Bearer')
      assert.equal((json as { code: string }).code, 'key-missing')
    }
    for (const path of ['/healthz', '/readyz', '/openapi.json']) assert.equal((await as('GET', path)).status, 200, path)
    const { status, json } = await as('GET', '/retry-tasks', { key: 'swk_0123456789abcdef_' + 'a'.repeat(43) })
    assert.deepEqual([status, (json as { code: string }).code], [401, 'key-unknown'])
  })

  it('serves any host and origin, for no browser sends a key by itself', async () => {
    const served = await guarded()
    const headers = { authorization: `Bearer ${served.operator}`, host: 'retries.example', origin: 'https://a.example' }
    assert.equal((await served.ask('GET', '/retry-tasks', { headers })).status, 200)
  })

  it('has a first key that can make others', async () => {
    const { ask } = await serve()
    for (const body of [
      { scopes: ['read'] },
      { scopes: ['admin'] },
      { scopes: ['read'], isOperator: true },
      { scopes: ['admin'], isOperator: true, expiresAt: 8_000_000_000_000 },
    ]) {
      const refused = await ask('POST', '/keys', { body })
      const { code, title, detail } = refused.json as { code: string; title: string; detail: string }
      assert.deepEqual([refused.status, code], [409, 'last-admin'])
      assert.match(`${title}: ${detail}`, /^Nobody could manage keys: There is no key yet, .*make an operator’s first/)
    }
    assert.equal((await ask('GET', '/keys')).status, 200, 'nothing is locked')
  })

  it('shows a key once, and keeps only its hash', async () => {
    const { as, operator, keyFor, store, log } = await guarded()
    const key = await keyFor('default', 'read')
    const secret = key.slice('swk_0123456789abcdef_'.length)
    const seen = [
      JSON.stringify((await as('GET', '/keys', { key: operator })).json),
      JSON.stringify((await as('GET', '/audit?all=true', { key: operator })).json),
      JSON.stringify(await store.records({ kind: 'key', limit: 100 })),
      log.join(''),
    ]
    for (const text of seen) assert.ok(!text.includes(secret))
  })

  it('rotates a key with an overlap, and revokes it at once', async () => {
    const { as, operator, keyFor, clock } = await guarded()
    const old = await keyFor('default', 'read')
    const keyId = old.split('_')[1]!
    const isLetIn = async (key: string): Promise<boolean> => (await as('GET', '/retry-tasks', { key })).status === 200
    const rotated = await as('POST', `/keys/${keyId}/rotate`, { key: operator, body: { overlapMs: 1_000 } })
    const { key } = rotated.json as { key: string }
    assert.deepEqual([await isLetIn(old), await isLetIn(key)], [true, true])
    await clock.advance(1_000)
    assert.deepEqual([await isLetIn(old), await isLetIn(key)], [false, true])
    const { status, json: revoked } = await as('DELETE', `/keys/${keyId}?reason=leaked`, { key: operator })
    assert.deepEqual([status, revoked.revokedAt, revoked.overlapsUntil], [200, clock.now(), undefined])
    assert.equal(await isLetIn(key), false)
    assert.equal((await as('DELETE', `/keys/${keyId}`, { key: operator })).status, 404)
  })

  it('keeps the last key with which keys can be made', async () => {
    const { as, operator } = await guarded()
    const { status, json } = await as('DELETE', `/keys/${operator.split('_')[1]}`, { key: operator })
    const { code, detail } = json as { code: string; detail: string }
    assert.deepEqual([status, code], [409, 'last-admin'])
    assert.match(detail, /make another operator’s key first, with the scope admin and without an end/)
  })

  it('does not count a key that will expire among those with which keys can be made', async () => {
    const { as, operator, clock } = await guarded()
    const body = { scopes: ['admin'], isOperator: true, expiresAt: clock.now() + 60_000 }
    const { key } = (await as('POST', '/keys', { key: operator, body })).json as { key: string }
    const { status, json } = await as('DELETE', `/keys/${operator.split('_')[1]}`, { key })
    assert.deepEqual([status, (json as { code: string }).code], [409, 'last-admin'])
  })

  it('leaves a tenant that is there as it is', async () => {
    const { as, operator, addTenant } = await guarded()
    await addTenant('acme')
    const own = { key: operator, tenant: 'acme' }
    await as('POST', '/retry-policies', { ...own, body: { policyId: 'default', maxAttempts: 2 } })
    assert.equal((await as('POST', '/tenants', { key: operator, body: { tenant: 'acme' } })).status, 409)
    const { json } = await as('GET', '/retry-policies/default', own)
    assert.equal((json as { maxAttempts: number }).maxAttempts, 2)
  })

  it('lets a tenant make keys of its own and of nobody else', async () => {
    const { as, keyFor, addTenant } = await guarded()
    await addTenant('acme')
    const admin = await keyFor('acme', 'admin')
    const made = await as('POST', '/keys', { key: admin, body: { scopes: ['read'], name: 'checkout' } })
    assert.equal((made.json as { tenant: string }).tenant, 'acme')
    const attempts = [
      as('POST', '/keys', { key: admin, body: { scopes: ['admin'], isOperator: true } }),
      as('GET', '/keys?all=true', { key: admin }),
      as('GET', '/audit?all=true', { key: admin }),
      as('GET', '/tenants', { key: admin }),
      as('POST', '/tenants', { key: admin, body: { tenant: 'mine' } }),
      as('GET', '/keys', { key: admin, tenant: 'default' }),
      as('GET', '/metrics', { key: admin }),
    ]
    for (const { status } of await Promise.all(attempts)) assert.equal(status, 403)
  })

  it('makes a key for the tenant that the header names, and says so to whoever names it elsewhere', async () => {
    const { as, operator, addTenant } = await guarded()
    await addTenant('acme')
    const inBody = await as('POST', '/keys', { key: operator, body: { scopes: ['read'], tenant: 'acme' } })
    const inQuery = await as('GET', '/retry-tasks?tenant=acme', { key: operator })
    for (const { status, json } of [inBody, inQuery]) {
      const { problems } = json as { problems: { at: string; say: string }[] }
      assert.deepEqual([status, problems[0]!.at], [400, 'tenant'])
      assert.match(problems[0]!.say, /; did you mean the header Secondwind-Tenant\?$/)
    }
    const made = await as('POST', '/keys', { key: operator, tenant: 'acme', body: { scopes: ['read'] } })
    assert.equal((made.json as { tenant: string }).tenant, 'acme')
  })

  it('acts for the tenant that an operator names, if there is one', async () => {
    const { as, operator, addTenant } = await guarded()
    await addTenant('acme')
    const made = await as('POST', '/retry-tasks', { key: operator, tenant: 'acme', body: TASK })
    assert.equal(made.status, 201)
    assert.equal((await as('GET', '/retry-tasks', { key: operator, tenant: 'nobody' })).status, 404)
    const listed = async (tenant?: string): Promise<number> => {
      const { json } = await as('GET', '/retry-tasks', { key: operator, ...(tenant !== undefined && { tenant }) })
      return (json as { items: unknown[] }).items.length
    }
    assert.deepEqual([await listed('acme'), await listed('default'), await listed()], [1, 0, 1])
  })

  it('writes down who did what, and why', async () => {
    const { as, keyFor, operator } = await guarded()
    const key = await keyFor('default', 'enqueue', 'operate', 'read')
    const { json } = await as('POST', '/retry-tasks', { key, body: TASK })
    const { taskId } = json as { taskId: string }
    await as('DELETE', `/retry-tasks/${taskId}?reason=INC-1`, { key })
    await as('POST', '/retry-policies', { key: operator, body: { policyId: 'payments' } })
    const { items } = (await as('GET', '/audit', { key })).json as { items: AuditEntry[] }
    const [actor, maker] = [key, operator].map(text => text.split('_')[1])
    assert.deepEqual(
      items.map(({ actor: who, action, subject, reason }) => [who, action, subject, reason]),
      [
        [maker, 'policy.put', 'payments', undefined],
        [actor, 'task.cancel', taskId, 'INC-1'],
        [maker, 'key.create', actor, undefined],
      ],
    )
  })

  it('repeats neither a key nor a signing secret that came in a wrong place', async () => {
    const { as, operator: key } = await guarded()
    const { secret } = (await as('POST', '/secrets', { key, body: {} })).json as { secret: string }
    for (const text of [key, secret]) {
      const named = encodeURIComponent(text)
      const refused = [
        await as('GET', `/keys?key=${named}`, { key }),
        await as('GET', `/keys?${named}=1`, { key }),
        await as('DELETE', `/keys/${named}`, { key }),
        await as('GET', `/retry-policies/${named}`, { key }),
        await as('GET', `/destinations/${named}`, { key }),
        await as('POST', '/retry-tasks', { key, body: { targetUrl: 'https://api.example/', policyId: text } }),
        await as('POST', '/retry-tasks', { key, body: { targetUrl: 'https://api.example/', [text]: 1 } }),
      ]
      for (const { status, text: answered } of refused) {
        assert.ok(status >= 400 && status < 500, answered)
        assert.ok(answered.includes('[redacted]'), answered)
        assert.ok(!answered.includes(text.slice(21)), answered)
      }
    }
  })

  it('gives no key a name that is one, or another secret: every list would show it', async () => {
    const { as, operator: key } = await guarded()
    for (const name of [key, `of ${key}`, `whsec_${'a'.repeat(43)}=`, 'https://user:hunter2@api.example']) {
      const { status, json } = await as('POST', '/keys', { key, body: { scopes: ['read'], name } })
      assert.equal(status, 400)
      assert.deepEqual(
        [json.problems[0].at, json.problems[0].say],
        ['name', 'must not hold a key or another secret: every list shows it'],
      )
      assert.match(json.problems[0].is, /^(?:of )?\[redacted\]$/)
    }
  })

  it('takes a reason and a name of one line only: a line break would look like a line of somebody else', async () => {
    const { as, operator } = await guarded()
    const bad = ['a\nb', 'a\u001b[2J', '\u009b2J', 'a\u2028b', 'a\u202eb', '\0', 'a'.repeat(501)]
    const path = '/destinations/http%3A%2F%2F127.0.0.1%3A8/pause'
    for (const text of bad) {
      const refused = [
        await as('POST', path, { key: operator, body: { reason: text } }),
        await as('POST', '/keys', { key: operator, body: { scopes: ['read'], name: text } }),
        await as('DELETE', `/keys/0123456789abcdef?reason=${encodeURIComponent(text)}`, { key: operator }),
      ]
      for (const { status, json } of refused) {
        const [problem] = (json as { problems: { say: string }[] }).problems
        assert.equal(status, 400)
        assert.match(problem!.say, /^must be a text of 1 to \d+ characters in one line, without control characters$/)
      }
    }
    assert.equal((await as('POST', path, { key: operator, body: { reason: 'Größe 👍 "5 %"' } })).status, 200)
  })

  it('shows each tenant what was done with its keys, and operators alone what was done with theirs', async () => {
    const { as, operator, keyFor, addTenant } = await guarded()
    await addTenant('acme')
    const [own, others] = [await keyFor('acme', 'admin'), await keyFor('default', 'admin')]
    const [ownId, othersId, operatorId] = [own, others, operator].map(text => text.split('_')[1]!)
    const colleague = await as('POST', '/keys', { key: operator, body: { scopes: ['read'], isOperator: true } })
    await as('POST', `/keys/${ownId}/rotate`, { key: operator, body: { reason: 'phished' } })
    await as('DELETE', `/keys/${ownId}`, { key: operator })
    const reader = await keyFor('acme', 'operate')
    const seenBy = async (key: string): Promise<string[][]> => {
      const { json } = await as('GET', '/audit', { key })
      return (json as { items: AuditEntry[] }).items.map(({ action, subject, tenant }) => [action, subject, tenant])
    }
    assert.deepEqual(await seenBy(reader), [
      ['key.create', reader.split('_')[1], 'acme'],
      ['key.revoke', ownId, 'acme'],
      ['key.rotate', ownId, 'acme'],
      ['key.create', ownId, 'acme'],
    ])
    assert.deepEqual(await seenBy(others), [['key.create', othersId, 'default']])
    assert.deepEqual(
      (await seenBy(operator)).filter(([, , tenant]) => tenant === '*'),
      [
        ['key.create', (colleague.json as { keyId: string }).keyId, '*'],
        ['tenant.create', 'acme', '*'],
        ['key.create', operatorId, '*'],
      ],
    )
  })
})

describe('a key that ends', () => {
  it('makes and rotates none that outlasts it', async () => {
    const { as, operator, clock } = await guarded()
    const expiresAt = clock.now() + 60_000
    const made = await as('POST', '/keys', { key: operator, body: { scopes: ['admin'], expiresAt } })
    const { key, keyId } = made.json as { key: string; keyId: string }
    const lasting = await as('POST', '/keys', { key: operator, tenant: 'default', body: { scopes: ['read'] } })
    for (const body of [{ scopes: ['read'] }, { scopes: ['read'], expiresAt: expiresAt + 1 }])
      assert.deepEqual(refusalOf(await as('POST', '/keys', { key, body })), [403, 'scope-missing'])
    assert.equal((await as('POST', '/keys', { key, body: { scopes: ['admin'], expiresAt } })).status, 201)
    const rotate = (id: string): Promise<Answered> => as('POST', `/keys/${id}/rotate`, { key, body: {} })
    assert.deepEqual(refusalOf(await rotate(lasting.json.keyId)), [403, 'scope-missing'])
    assert.equal((await rotate(keyId)).status, 200)
  })

  it('is the old text of one that was rotated, too: it neither rotates nor revokes it, and so shuts out nobody', async () => {
    const { as, operator, clock } = await guarded()
    const body = { scopes: ['admin'], expiresAt: clock.now() + 60_000 }
    const made = await as('POST', '/keys', { key: operator, tenant: 'default', body })
    const path = `/keys/${made.json.keyId}/rotate`
    const old = made.json.key as string
    const rotated = await as('POST', path, { key: old, body: { overlapMs: 3_600_000 } })
    assert.equal((await as('GET', '/keys', { key: old })).status, 200)
    for (const ask of [path, '/keys'])
      assert.equal((await as('POST', ask, { key: old, body: ask === path ? {} : { scopes: ['admin'] } })).status, 403)
    const own = `/keys/${made.json.keyId}`
    assert.deepEqual(refusalOf(await as('DELETE', own, { key: old })), [403, 'scope-missing'])
    assert.equal((await as('POST', path, { key: rotated.json.key, body: {} })).status, 200)
    assert.deepEqual(refusalOf(await as('DELETE', own, { key: rotated.json.key })), [403, 'scope-missing'])
  })
})

describe('a signing secret', () => {
  it('is another one after it was deleted and made anew: what was read of the old one ends no other', async () => {
    const { as, operator: key } = await guarded()
    const old = await as('POST', '/secrets', { key, body: {} })
    assert.equal((await as('DELETE', `/secrets/${old.json.secretId}`, { key })).status, 200)
    const fresh = await as('POST', '/secrets', { key, body: {} })
    const late = await as('DELETE', `/secrets/${old.json.secretId}`, { key, ifMatch: old.headers.etag })
    assert.equal(late.status, 404)
    const { items } = (await as('GET', '/secrets', { key })).json
    assert.deepEqual(
      items.map(({ secretId }: { secretId: string }) => secretId),
      [fresh.json.secretId],
    )
  })

  it('is shown once, is one for a destination, and rotates with an overlap', async () => {
    const served = await guarded()
    const { as, operator: key, store, log } = served
    const body = { destination: 'https://api.example' }
    const made = await as('POST', '/secrets', { key, body })
    assert.equal(made.status, 201)
    const { secret, secretId } = made.json as { secret: string; secretId: string }
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
    for (const destination of [body.destination, 'https://API.example.'])
      assert.equal((await as('POST', '/secrets', { key, body: { destination } })).status, 409)
    const rotated = await as('POST', `/secrets/${secretId}/rotate`, { key, body: { overlapMs: 5_000 } })
    assert.notEqual((rotated.json as { secret: string }).secret, secret)
    const listed = JSON.stringify((await as('GET', '/secrets', { key })).json)
    const trail = await store.audit({ limit: 100 })
    const lines = trail.items.filter(({ action }) => action.startsWith('secret.'))
    assert.deepEqual(new Set(lines.map(({ subject }) => subject)), new Set([secretId]))
    const audit = JSON.stringify(trail)
    for (const text of [listed, audit, log.join('')]) assert.ok(!text.includes(secret.slice(6)))
    assert.equal((await as('DELETE', `/secrets/${secretId}`, { key })).status, 200)
    assert.equal((await as('DELETE', `/secrets/${secretId}`, { key })).status, 404)
    const bad = await as('POST', '/secrets', { key, body: { destination: 'https://api.example/path' } })
    assert.equal(bad.status, 400)
  })
})

/** Every operation, with a request that it would take from whoever may. */
async function operationsOf({ ask }: Served): Promise<{ method: string; path: string; scope: Scope | 'none' }[]> {
  const { json } = await ask('GET', '/openapi.json')
  const { paths } = json as { paths: { [path: string]: { [method: string]: { 'x-scope': Scope | 'none' } } } }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { 'x-scope': scope }]) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{[^}]+\}/g, '0123456789abcdef'),
      scope,
    })),
  )
}

describe.each([
  ['keys', { scopes: ['read'] }, 'keyId'],
  ['secrets', {}, 'secretId'],
] as const)('one of the %s that were read', (list, body, idField) => {
  it('is rotated and ended as it was read, or not at all', async () => {
    const { as, operator: key } = await guarded()
    const made = await as('POST', `/${list}`, { key, body })
    const path = `/${list}/${made.json[idField]}`
    assert.deepEqual([made.json.version, made.headers.etag], [1, '"1"'])
    const rotate = (ifMatch: string): Promise<Answered> => as('POST', `${path}/rotate`, { key, body: {}, ifMatch })
    // Two at once have read the same: the store lets one of them.
    const both = await Promise.all([rotate('"1"'), rotate('"1"')])
    const [rotated, late] = both.toSorted((one, other) => one.status - other.status) as [Answered, Answered]
    assert.deepEqual([rotated.status, rotated.json.version, rotated.headers.etag], [200, 2, '"2"'])
    assert.deepEqual([late.status, late.json.code, late.headers.etag], [412, 'version-changed', '"2"'])
    assert.equal((await as('DELETE', path, { key, ifMatch: '"1"' })).status, 412)
    const { items } = (await as('GET', `/${list}`, { key })).json
    const known = items.find((one: { [id: string]: unknown }) => one[idField] === made.json[idField])
    assert.equal(known.version, 2)
    assert.equal((await as('DELETE', path, { key, ifMatch: `"${known.version}"` })).status, 200)
  })
})

describe('every route', () => {
  it('refuses every key that lacks its scope, before it looks at anything else', async () => {
    const served = await guarded()
    const operations = await operationsOf(served)
    assert.ok(operations.length > 20)
    for (const { method, path, scope } of operations) {
      if (scope === 'none') continue
      assert.ok(SCOPES.includes(scope), `${method} ${path}`)
      const others = SCOPES.filter(other => other !== scope && other !== 'admin')
      const key = await served.keyFor('default', ...others)
      const { status, json } = await served.as(method, path, { key })
      assert.deepEqual([status, (json as { code?: string }).code], [403, 'scope-missing'], `${method} ${path}`)
      assert.equal((await served.as(method, path)).status, 401, `${method} ${path}`)
    }
  })

  it('shows nothing of another tenant', async () => {
    const served = await guarded()
    const { as, keyFor, addTenant, operator } = served
    for (const tenant of ['acme', 'rival']) await addTenant(tenant)
    const [mine, theirs] = [await keyFor('acme', 'admin'), await keyFor('rival', 'admin')]
    const task = (await as('POST', '/retry-tasks', { key: mine, body: TASK })).json as { taskId: string }
    await as('POST', '/retry-policies', { key: mine, body: { policyId: 'secret-policy' } })
    const secret = (await as('POST', '/secrets', { key: mine, body: {} })).json as { secretId: string }
    const keyId = mine.split('_')[1]!
    const probes: [string, string][] = [
      ['GET', `/retry-tasks/${task.taskId}`],
      ['GET', `/retry-tasks/${task.taskId}/attempts`],
      ['GET', `/retry-tasks/${task.taskId}/explain`],
      ['DELETE', `/retry-tasks/${task.taskId}`],
      ['POST', `/retry-tasks/${task.taskId}/attempt-now`],
      ['POST', `/retry-tasks/${task.taskId}/replay`],
      ['GET', '/retry-policies/secret-policy'],
      ['GET', '/retry-policies/secret-policy/versions'],
      ['DELETE', `/keys/${keyId}`],
      ['DELETE', `/secrets/${secret.secretId}`],
    ]
    for (const [method, path] of probes) {
      const { status } = await as(method, path, { key: theirs })
      assert.equal(status, 404, `${method} ${path}`)
    }
    for (const path of ['/retry-tasks', '/destinations', '/dead-letters', '/secrets', '/retry-policies', '/keys']) {
      const { json } = await as('GET', path, { key: theirs })
      const text = JSON.stringify(json)
      for (const word of [task.taskId, 'api.example', 'secret-policy', keyId, secret.secretId])
        assert.ok(!text.includes(word), `${path} tells ${word}`)
    }
    const same = await as('POST', '/retry-tasks', { key: theirs, body: TASK })
    assert.equal(same.status, 201, "a key of an idempotent request is its tenant's own")
    assert.equal((await as('GET', `/retry-tasks/${task.taskId}`, { key: operator, tenant: 'acme' })).status, 200)
  })
})
