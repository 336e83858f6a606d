import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { checkThrottle, DEFAULT_THROTTLE, withThrottleDefaults } from './policy.ts'

const say = (input: unknown): string[] => checkThrottle(input, 'throttle').map(({ at, say }) => `${at} ${say}`)

describe('a throttle', () => {
  it('has K 2 over two minutes, and admits at least a tenth', () => {
    assert.deepEqual(withThrottleDefaults({}), {
      ...DEFAULT_THROTTLE,
      acceptMultiplier: 2,
      windowMs: 120_000,
      minAdmission: 0.1,
    })
    assert.deepEqual(say(DEFAULT_THROTTLE), [])
  })

  it('keeps no call back while all of them are accepted', () => {
    assert.match(say({ acceptMultiplier: 0.9 })[0]!, /^throttle\.acceptMultiplier must be a number from 1 /)
  })

  it('always admits somebody', () => {
    assert.match(say({ minAdmission: 0 })[0]!, /^throttle\.minAdmission must be a number from 0\.001 /)
  })

  it('is never gentler than the formula', () => {
    assert.match(say({ aggression: 0.5 })[0]!, /^throttle\.aggression must be a number from 1 /)
  })

  it('says what others call its fields', () => {
    assert.match(say({ k: 2 })[0]!, /^throttle\.k .*acceptMultiplier/)
    assert.match(say({ K: 2 })[0]!, /^throttle\.K .*acceptMultiplier/)
    assert.deepEqual(say(undefined), ['throttle must be an object with the fields of a throttle; {} has its defaults'])
  })
})
