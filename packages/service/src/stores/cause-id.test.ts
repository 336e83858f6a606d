import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { causeIdOf } from './cause-id.ts'

describe('a cause', () => {
  it('has a short name that stays the same from version to version', () => {
    const death = { tenant: 'acme', destination: 'https://api.example', reason: 'attempts' } as const
    const lastAttempt = {
      outcome: 'transient',
      responseStatus: 503,
      errorCode: 'http-503',
      errorMessage: 'busy',
    } as const
    assert.equal(causeIdOf({ ...death, lastAttempt }), 'f91277c41620bbd6')
    assert.match(causeIdOf(death), /^[0-9a-f]{16}$/)
  })
})
