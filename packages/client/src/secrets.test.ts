import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { isSecretName, redact, REDACTED, redactProblem, redactText } from './secrets.ts'

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

describe('a text for everybody’s eyes', () => {
  const key = `swk_0123456789abcdef_${'aZ09_-'.repeat(7)}a`
  const signing = `whsec_${'aZ09+/'.repeat(7)}a=`

  it('has no key, no signing secret and nothing that stands before a host, wherever they stand in it', () => {
    for (const secret of [key, signing]) {
      assert.equal(redactText(secret), REDACTED)
      assert.equal(redactText(`No policy is called ${secret}.`), `No policy is called ${REDACTED}.`)
      assert.equal(redactText(`["${secret}","a${secret}"]`), `["${REDACTED}","a${REDACTED}"]`)
    }
    assert.equal(redactText('to https://user:p@ss@a.example: no'), `to https://${REDACTED}@a.example: no`)
    assert.equal(redactText(`GET /bodies/${encodeURIComponent(signing)}`), `GET /bodies/${REDACTED}`)
  })

  it('has none of one that was cut, by us or by whoever copied it', () => {
    assert.equal(redactText(key.slice(0, -5)), REDACTED)
    assert.equal(redactText(signing.slice(0, -5)), REDACTED)
    assert.equal(redact('field', `${'a'.repeat(80)}${key}`), `${'a'.repeat(80)}${REDACTED}`)
  })

  it('is else the same: what a key looks like, the id of one, addresses', () => {
    for (const text of [
      'swk_…',
      'whsec_…',
      '0123456789abcdef',
      'whsec_rotation',
      '["https://a.example","ops@b.example"]',
    ])
      assert.equal(redactText(text), text)
  })

  it('is told of a problem, whether its place or its value holds one', () => {
    assert.deepEqual(redactProblem({ at: key, is: signing, say: 'is unknown' }), {
      at: REDACTED,
      is: REDACTED,
      say: 'is unknown',
    })
  })
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
