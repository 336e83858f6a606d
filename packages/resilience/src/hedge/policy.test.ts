import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { checkHedge, DEFAULT_HEDGE, withHedgeDefaults } from './policy.ts'

const say = (input: unknown): string[] => checkHedge(input, 'hedge').map(({ at, say }) => `${at} ${say}`)

describe('a hedge', () => {
  it('comes by default at the p95, once, for two calls in a hundred at the most', () => {
    const { delayPercentile, maxExtraCalls, maxExtraLoad, delayMs } = withHedgeDefaults({})
    assert.deepEqual(
      { delayPercentile, maxExtraCalls, maxExtraLoad, delayMs },
      { delayPercentile: 95, maxExtraCalls: 1, maxExtraLoad: 0.02, delayMs: undefined },
    )
  })

  it('is right as it stands, and once it is completed', () => {
    assert.deepEqual(say(DEFAULT_HEDGE), [])
    assert.deepEqual(say(withHedgeDefaults({ delayMs: 50 })), [])
  })

  it('can come after a fixed time, even at once', () => {
    assert.deepEqual(say({ delayMs: 0 }), [])
    assert.equal(withHedgeDefaults({ delayMs: 50 }).delayMs, 50)
  })

  it('comes after a time or at a percentile, not both', () => {
    assert.deepEqual(say({ delayMs: 50, delayPercentile: 99 }), [
      'hedge.delayMs takes the place of delayPercentile: give one of them',
    ])
  })

  it('waits for samples that can be there', () => {
    assert.deepEqual(say({ sampleCalls: 10, minSamples: 11 }), ['hedge.minSamples is never reached: sampleCalls is 10'])
    assert.equal(withHedgeDefaults({ sampleCalls: 10 }).minSamples, 10)
    assert.deepEqual(say({ sampleCalls: 10 }), [])
  })

  it('says what is wrong with each field, and what others call it', () => {
    const [calls, load, word] = say({ maxExtraCalls: 0, maxExtraLoad: 2, delay: 'p95' })
    assert.match(calls!, /^hedge\.maxExtraCalls .*1 to 10/)
    assert.match(load!, /^hedge\.maxExtraLoad .*0\.0001 to 1/)
    assert.match(word!, /^hedge\.delay .*delayMs or delayPercentile/)
    assert.deepEqual(say(true), ['hedge must be an object with the fields of a hedge; {} has its defaults'])
  })
})
