import assert from 'node:assert/strict'
import { DEFAULT_POLICY } from '@secondwind/resilience'
import { describe, it } from 'vitest'
import { putPolicy } from '../../policies/policy-book.ts'
import { refusalOf, serve } from '../api.test-kit.ts'

const PAYMENTS = { policyId: 'payments', maxAttempts: 8, initialDelayMs: 1_000, maxDelayMs: 60_000 }

describe('POST /retry-policies', () => {
  it('keeps a policy with its defaults filled in: 201, and 200 for the same document again', async () => {
    const { ask } = await serve()
    const first = await ask('POST', '/retry-policies', { body: PAYMENTS })
    assert.deepEqual([first.status, first.headers.location], [201, '/retry-policies/payments'])
    assert.deepEqual([first.json.version, first.json.maxAttempts, first.json.totalBudgetMs], [1, 8, 86_400_000])
    const turned = Object.fromEntries(Object.entries(PAYMENTS).toReversed())
    const again = await ask('POST', '/retry-policies', { body: turned })
    assert.deepEqual([again.status, again.json], [200, first.json])
  })

  it('makes another document the next version: 201', async () => {
    const { ask } = await serve()
    await ask('POST', '/retry-policies', { body: PAYMENTS })
    const { status, json } = await ask('POST', '/retry-policies', { body: { ...PAYMENTS, maxAttempts: 9 } })
    assert.deepEqual([status, json.version], [201, 2])
    const back = await ask('POST', '/retry-policies', { body: PAYMENTS })
    assert.deepEqual([back.status, back.json.version], [201, 3])
  })

  it('is refused with 412 where another version is the newest, and has its own as ETag', async () => {
    const { ask } = await serve()
    const put = (maxAttempts: number, etag: string) =>
      ask('POST', '/retry-policies', { body: { ...PAYMENTS, maxAttempts }, headers: { 'if-match': etag } })
    const none = await put(8, '"1"')
    assert.deepEqual([none.status, none.json.code, none.headers.etag], [412, 'version-changed', '"0"'])
    const first = await put(8, '"0"')
    assert.deepEqual([first.status, first.headers.etag], [201, '"1"'])
    assert.equal((await put(9, '"1"')).headers.etag, '"2"')
    assert.deepEqual([(await put(7, '"1"')).status, (await put(9, '"2"')).status], [412, 200])
    const { headers, json } = await ask('GET', '/retry-policies/payments')
    assert.deepEqual([headers.etag, json.maxAttempts], ['"2"', 9])
  })

  it('keeps a thousand of a tenant, and a thousand versions of each, and no more: 429', async () => {
    const { ask, store } = await serve()
    const tenant = 'default'
    for (let n = 0; n < 999; n++) await putPolicy(store, { tenant, policyId: `p${n}`, document: DEFAULT_POLICY })
    const another = await ask('POST', '/retry-policies', { body: PAYMENTS })
    assert.deepEqual([another.status, another.json.code], [429, 'too-many'])
    for (let version = 1; version <= 1_000; version++)
      await putPolicy(store, { tenant, policyId: 'p1', document: { ...DEFAULT_POLICY, initialDelayMs: version } })
    const next = await ask('POST', '/retry-policies', { body: { policyId: 'p1', maxAttempts: 2 } })
    assert.deepEqual([next.status, next.json.code], [429, 'too-many'])
    assert.match(next.json.detail, /^p1 has 1000 versions already/)
  })

  it('keeps every field of a document', async () => {
    const { ask } = await serve()
    const whole = {
      policyId: 'whole',
      maxAttempts: 4,
      backoffType: 'CUSTOM',
      initialDelayMs: 5,
      multiplier: 1.5,
      minDelayMs: 1,
      maxDelayMs: 50,
      delaysMs: [5, 10, 50],
      totalBudgetMs: 9_999,
      attemptTimeoutMs: 300_000,
      jitterType: 'PROPORTIONAL',
      jitterRatio: 0.25,
      retryableStatusCodes: [503],
      inProcess: { maxAttempts: 2 },
    }
    const { json } = await ask('POST', '/retry-policies', { body: whole })
    const { version, createdAt, ...kept } = json
    assert.deepEqual([kept, version, typeof createdAt], [whole, 1, 'number'])
  })

  it('refuses what the library refuses, with all of its problems, and a missing or reserved name', async () => {
    const { ask } = await serve()
    const say = async (body: unknown) => refusalOf(await ask('POST', '/retry-policies', { body }))
    assert.deepEqual(await say({ policyId: 'a', maxAtempts: 3, multiplier: 0, jitterType: 'full' }), [
      400,
      'invalid-request',
      'maxAtempts is an unknown field; did you mean maxAttempts?',
      'multiplier must be a number from 1 to 1000',
      'jitterType must be one of NONE, FULL, EQUAL, DECORRELATED, PROPORTIONAL',
    ])
    assert.deepEqual(await say({ maxAttempts: 3 }), [
      400,
      'invalid-request',
      'policyId must be given: a policy is kept under its name',
    ])
    assert.deepEqual(await say({ policyId: 'inline' }), [
      400,
      'invalid-request',
      'policyId is reserved for tasks that bring a policy of their own',
    ])
    const misnamed = 'policyId must be a name of 1 to 100 letters, digits, dots, dashes and underscores'
    const wrong = ['maxAttempts must be a whole number from 1 to 10000', misnamed]
    for (const policyId of ['a b', '', 'x'.repeat(300), 3])
      assert.deepEqual(await say({ policyId, maxAttempts: 0 }), [400, 'invalid-request', ...wrong])
    assert.deepEqual(await say({ name: 'a b', retry: { maxAttempts: 0 } }), [
      400,
      'invalid-request',
      ...wrong.map(each => each.replace('maxAttempts', 'retry.maxAttempts')),
    ])
    for (const body of ['[]', 'null', '3', ''])
      assert.deepEqual(await say(body), [400, 'invalid-request', ' must be an object with the fields of a policy'])
  })
})

describe('GET /retry-policies', () => {
  it('lists the newest version of each, by name, in pages', async () => {
    const { ask } = await serve()
    for (const maxAttempts of [8, 9]) await ask('POST', '/retry-policies', { body: { ...PAYMENTS, maxAttempts } })
    const first = (await ask('GET', '/retry-policies?limit=1')).json
    const second = (await ask('GET', `/retry-policies?limit=1&cursor=${first.nextCursor}`)).json
    const found = [...first.items, ...second.items].map(({ policyId, version }) => [policyId, version])
    assert.deepEqual(found, [
      ['default', 1],
      ['payments', 2],
    ])
  })

  it('reads one, and all of its versions, the newest first', async () => {
    const { ask } = await serve()
    for (const maxAttempts of [8, 9, 10]) await ask('POST', '/retry-policies', { body: { ...PAYMENTS, maxAttempts } })
    assert.equal((await ask('GET', '/retry-policies/payments')).json.maxAttempts, 10)
    const { json } = await ask('GET', '/retry-policies/payments/versions?limit=2')
    assert.deepEqual(
      json.items.map(({ version, maxAttempts }: { version: number; maxAttempts: number }) => [version, maxAttempts]),
      [
        [3, 10],
        [2, 9],
      ],
    )
    const rest = (await ask('GET', `/retry-policies/payments/versions?cursor=${json.nextCursor}`)).json
    assert.deepEqual([rest.items.length, rest.items[0].version, rest.nextCursor], [1, 1, undefined])
  })

  it('answers 404 to a name that nobody has, with one that may have been meant', async () => {
    const { ask } = await serve()
    await ask('POST', '/retry-policies', { body: PAYMENTS })
    for (const path of ['/retry-policies/paymets', '/retry-policies/paymets/versions']) {
      const answer = await ask('GET', path)
      assert.deepEqual(refusalOf(answer), [404, 'policy-not-found'])
      assert.equal(answer.json.detail, 'No policy is called paymets; did you mean payments?')
    }
    assert.deepEqual(refusalOf(await ask('GET', '/retry-policies/a%20b')), [
      400,
      'invalid-request',
      'policyId must be a name of 1 to 100 letters, digits, dots, dashes and underscores',
    ])
  })
})
