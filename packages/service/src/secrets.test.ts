import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { isSecretName } from './secrets.ts'

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
