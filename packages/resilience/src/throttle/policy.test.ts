import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { checkThrottle, DEFAULT_THROTTLE, withThrottleDefaults } from './policy.ts'

const say = (input: unknown): string[] => checkThrottle(input, 'throttle').map(({ at, say }) => `${at} ${say}`)

describe('a throttle', () => {
  it('has K 2 over two minutes, and admits at least a tenth', () => {
    assert.deepEqual(withThrottleDefaults({}), { acceptMultiplier: 2, windowMs: 120_000, minAdmission: 0.1 })
    assert.deepEqual(say(DEFAULT_THROTTLE), [])
  })

  it('keeps no call back while all of them are accepted', () => {
    assert.deepEqual(say({ acceptMultiplier: 0.9 }), ['throttle.acceptMultiplier must be a number from 1 to 1000'])
  })

  it('always admits somebody', () => {
    assert.deepEqual(say({ minAdmission: 0 }), ['throttle.minAdmission must be a number from 0.001 to 1'])
  })

  it('says what others call its fields', () => {
    assert.deepEqual(say({ k: 2, K: 2 }), [
      'throttle.k is not a field; use acceptMultiplier',
      'throttle.K is not a field; use acceptMultiplier',
    ])
    assert.deepEqual(say(undefined), ['throttle must be an object with the fields of a throttle'])
  })
})
