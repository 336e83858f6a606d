import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { isSecretName, redact, REDACTED } from './secrets.ts'

describe('a name whose value nobody may read', () => {
  for (const name of [
    'Authorization',
    'proxy-authorization',
    'Cookie',
    'set-cookie',
    'X-Api-Key',
    'api_key',
    'Ocp-Apim-Subscription-Key',
    'x-functions-key',
    'DD-APPLICATION-KEY',
    'x-amz-security-token',
    'x-hub-signature-256',
    'x-auth',
    'client_secret',
  ])
    it(`is ${name}`, () => assert.ok(isSecretName(name)))

  for (const name of ['content-type', 'Idempotency-Key', 'idempotencyKey', 'x-request-id', 'author', 'keyboard'])
    it(`is not ${name}`, () => assert.ok(!isSecretName(name)))
})

describe('what is told of a value that is wrong', () => {
  it('is nothing of a secret, a header, an address with a password or a body', () => {
    assert.equal(redact('x-api-key', 'swk_1'), REDACTED)
    assert.equal(redact('header', 'authorization Bearer s3cr3t'), REDACTED)
    for (const url of ['http://user:hunter2@host/a', 'user:hunter2@host', 'http:user:hunter2@/'])
      assert.equal(redact('targetUrl', url), REDACTED)
    assert.equal(redact('body', 's3cr3t'), '[6 characters]')
    assert.equal(redact('', '{"headers":{"authorization":"s3cr3t"}}'), '[38 characters]')
  })

  it('is of a list or an object only that it is one: what is in it may be secret', () => {
    assert.equal(redact('headers', { authorization: ['s3cr3t'] }), '[an object]')
    assert.equal(redact('entries', ['s3cr3t', 's3cr3t']), '[a list of 2]')
  })

  it('is all else as it stands, and of a long text its beginning', () => {
    assert.deepEqual(
      ['ftp://host/a', 'ops@host', 3, null, undefined].map(value => redact('field', value)),
      ['ftp://host/a', 'ops@host', 3, null, undefined],
    )
    assert.equal(redact('field', 'a'.repeat(200)), `${'a'.repeat(99)}…`)
  })
})
