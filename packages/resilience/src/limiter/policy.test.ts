import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { checkLimiter, DEFAULT_LIMITERS, withLimiterDefaults } from './policy.ts'

const say = (input: unknown): string[] => checkLimiter(input, 'limiter').map(({ at, say }) => `${at} ${say}`)

const KINDS = ['vegas', 'gradient2', 'aimd'] as const

describe('a limiter', () => {
  it.each(KINDS)('of kind %s is right as it stands', kind => {
    assert.deepEqual(say(DEFAULT_LIMITERS[kind]), [])
    assert.deepEqual(withLimiterDefaults({ kind }), DEFAULT_LIMITERS[kind])
  })

  it.each(KINDS)('of kind %s can shrink to one call', kind => assert.equal(DEFAULT_LIMITERS[kind].minLimit, 1))

  it('needs its kind', () => {
    for (const input of [{}, { kind: 'vega' }, { kind: 'toString' }, { kind: 3 }])
      assert.match(say(input).join(), /^limiter\.kind must be one of vegas, gradient2, aimd/)
  })

  it('takes the fields of its kind and no others', () => {
    assert.deepEqual(say({ kind: 'vegas', probeMultiplier: 10 }), [])
    assert.match(say({ kind: 'aimd', probeMultiplier: 10 })[0]!, /^limiter\.probeMultiplier is an unknown field/)
    const [tolerance, word] = say({ kind: 'gradient2', tolerance: 0.5, rttTolerance: 2 })
    assert.match(tolerance!, /^limiter\.tolerance must be a number from 1\.01 to 100/)
    assert.match(word!, /^limiter\.rttTolerance .*tolerance/)
  })

  it.each(KINDS)('of kind %s shrinks when a call is dropped', kind => {
    assert.deepEqual(say({ kind, backoffRatio: 0.5 }), [])
    assert.match(say({ kind, backoffRatio: 1 })[0]!, /^limiter\.backoffRatio must be a number from 0\.5 to 0\.999/)
  })

  it('does not take a field that is undefined for one that is given', () => {
    const nothing = { maxLimit: undefined, backoffRatio: undefined } as object
    assert.deepEqual(withLimiterDefaults({ kind: 'aimd', ...nothing }), DEFAULT_LIMITERS.aimd)
  })

  it('stretches its range around the one end that is given', () => {
    const range = (limits: object): unknown => {
      const { minLimit, initialLimit, maxLimit } = withLimiterDefaults({ kind: 'gradient2', ...limits })
      return [minLimit, initialLimit, maxLimit]
    }
    assert.deepEqual(range({ maxLimit: 10 }), [1, 10, 10])
    assert.deepEqual(range({ minLimit: 50 }), [50, 50, 200])
    assert.deepEqual(range({ minLimit: 500 }), [500, 500, 500])
    assert.deepEqual(range({ initialLimit: 300 }), [1, 300, 300])
  })

  it('refuses a range that contradicts itself', () => {
    assert.deepEqual(say({ kind: 'aimd', minLimit: 10, maxLimit: 5 }), ['limiter.minLimit must not exceed maxLimit, 5'])
    assert.deepEqual(say({ kind: 'aimd', initialLimit: 10, maxLimit: 5 }), [
      'limiter.initialLimit must be from 1 to 5, as the limit is',
    ])
  })

  it('must be an object', () =>
    assert.deepEqual(say('vegas'), ['limiter must be an object with kind and perhaps its fields']))
})
