import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { duration, listOf, numberBetween, oneOf, perSecond, wholeNumber, yesOrNo, type Reader } from './read-options.ts'

function valueOf<Value>(read: Reader<Value>, given: string): Value | undefined {
  const answer = read(given)
  return 'value' in answer ? answer.value : undefined
}

describe('what is typed', () => {
  it('is a duration in whole milliseconds, in the unit that it names', () => {
    const values = ['0', '250ms', '1.5s', '5min', '2m', '24h'].map(given => valueOf(duration(0, 1e9), given))
    assert.deepEqual(values, [0, 250, 1_500, 300_000, 120_000, 86_400_000])
  })

  it('is no duration without its unit: nobody who types 30 means milliseconds', () => {
    assert.deepEqual(duration(0, 1e9)('30'), { must: 'a duration with its unit: 30s or 30min, say' })
  })

  it('is no duration without a number, with a strange unit, or out of range', () => {
    const values = ['', 's', '5 weeks', '-1s', '1e3s', '2000s'].map(given => valueOf(duration(1, 1_000_000), given))
    assert.deepEqual(new Set(values), new Set([undefined]))
  })

  it('is a rate with or without its unit', () => {
    const values = ['300', '300/s', '0.5/s', '0', '300/min', ''].map(given => valueOf(perSecond(), given))
    assert.deepEqual(values, [300, 300, 0.5, undefined, undefined, undefined])
  })

  it('is a word in any case, or nothing', () => {
    assert.equal(valueOf(oneOf('FULL', 'NONE'), 'full'), 'FULL')
    assert.equal(valueOf(oneOf('FULL', 'NONE'), 'half'), undefined)
    assert.deepEqual(valueOf(listOf(oneOf('FULL', 'NONE')), 'none, full'), ['NONE', 'FULL'])
    assert.equal(valueOf(listOf(oneOf('FULL', 'NONE')), 'none,,full'), undefined)
  })

  it('is yes or no, and nothing that could be either', () => {
    assert.deepEqual(
      ['yes', 'Y', 'no', 'n', 'true', '1', ''].map(given => valueOf(yesOrNo, given)),
      [true, true, false, false, undefined, undefined, undefined],
    )
  })

  it('never becomes a number out of its range, whatever it is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.double().map(String), fc.integer().map(String)), given => {
        const number = valueOf(numberBetween(0, 1), given)
        assert.ok(number === undefined || (number >= 0 && number <= 1))
        const whole = valueOf(wholeNumber(1, 10), given)
        assert.ok(whole === undefined || (Number.isInteger(whole) && whole >= 1 && whole <= 10))
      }),
      { seed: 8 },
    )
  })
})
