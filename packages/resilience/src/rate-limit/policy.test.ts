import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { checkRateLimit, DEFAULT_RATE_LIMIT, withRateLimitDefaults } from './policy.ts'

const say = (input: unknown): string[] => checkRateLimit(input, 'rateLimit').map(({ at, say }) => `${at} ${say}`)

describe('a rate limit', () => {
  it('needs its rate', () => {
    assert.deepEqual(say({}), ['rateLimit.perSecond must be given: a rate limit needs its rate'])
    assert.match(say({ perSecond: 0 })[0]!, /^rateLimit\.perSecond must be/)
  })

  it('allows a second of it at once, unless told, and at least one call', () => {
    assert.deepEqual(withRateLimitDefaults({ perSecond: 100 }), { ...DEFAULT_RATE_LIMIT, perSecond: 100, burst: 100 })
    assert.equal(withRateLimitDefaults({ perSecond: 0.1 }).burst, 1)
    assert.equal(withRateLimitDefaults({ perSecond: 2.5 }).burst, 3)
    assert.equal(withRateLimitDefaults({ perSecond: 100, burst: 7 }).burst, 7)
    assert.equal(withRateLimitDefaults({ perSecond: 100, burst: undefined } as never).burst, 100)
  })

  it('that was completed is right', () => {
    for (const perSecond of [0.001, 0.5, 100, 1e9]) assert.deepEqual(say(withRateLimitDefaults({ perSecond })), [])
    assert.deepEqual(say(withRateLimitDefaults({ perSecond: 1, maxQueued: 0 })), [])
  })

  it('does not take a wait for a queue that does not exist', () => {
    assert.deepEqual(say({ perSecond: 1, maxQueued: 0, maxWaitMs: 10 }), [
      'rateLimit.maxWaitMs has no effect: with maxQueued 0 nobody waits',
    ])
  })

  it('says what is wrong with each field, and what others call it', () => {
    const [burst, word] = say({ perSecond: 1, burst: 0, perMinute: 60 })
    assert.match(burst!, /^rateLimit\.burst must be/)
    assert.match(word!, /^rateLimit\.perMinute .*perSecond \(perMinute \/ 60\)/)
    assert.deepEqual(say([]), ['rateLimit must be an object with perSecond and perhaps burst'])
  })
})
