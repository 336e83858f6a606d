import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { seededRandom } from '../testing/seeded-random.ts'
import { curveDelayMs, decorrelatedV2, type CurveAsk } from './curves.ts'
import { DEFAULT_POLICY } from './policy.ts'

const anyAsk: fc.Arbitrary<CurveAsk> = fc.record({
  attempt: fc.oneof(fc.integer({ min: 1, max: 70 }), fc.integer({ min: 1, max: 1e9 })),
  previousDelayMs: fc.integer({ min: 0, max: 1e12 }),
  roll: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
})

describe('decorrelatedV2', () => {
  const DRAWS = 40_000

  it('has the medians of its formula, 0.90, 1.14, 2.01, 4.08, 7.99 and 16.0 times the first delay', () => {
    const random = seededRandom(28)
    const curve = decorrelatedV2(1)
    for (const [index, median] of [0.9, 1.14, 2.01, 4.08, 7.99, 16].entries()) {
      const drawn = draws(index + 1)
      assert.ok(isNear(drawn[DRAWS / 2]!, median))
    }
    // And its spread, from the 5th to the 95th percentile.
    assert.ok(isNear(draws(1)[DRAWS * 0.05]!, 0.31))
    assert.ok(isNear(draws(1)[DRAWS * 0.95]!, 1.33))
    assert.ok(isNear(draws(4)[DRAWS * 0.05]!, 1.245))
    assert.ok(isNear(draws(4)[DRAWS * 0.95]!, 7.27))

    function draws(attempt: number): Float64Array {
      return Float64Array.from({ length: DRAWS }, () =>
        curve({ attempt, previousDelayMs: 1, roll: random() }),
      ).toSorted()
    }
  })

  it('is the formula itself: differences of 2^t × tanh(√4t), divided by 1.4', () => {
    const curve = decorrelatedV2(1_000)
    // A die of one half has a zero in all of its lower digits: here t is n + ½ and n − 1.
    const at = (attempt: number): number => curve({ attempt, previousDelayMs: 0, roll: 0.5 })
    const g = (t: number): number => 2 ** t * Math.tanh(Math.sqrt(4 * t))
    assert.equal(at(1), (g(0.5) * 1_000) / 1.4)
    assert.equal(at(2), ((g(1.5) - g(0)) * 1_000) / 1.4)
    assert.equal(at(5), ((g(4.5) - g(3)) * 1_000) / 1.4)
  })

  it('is finite and never negative, however many attempts', () => {
    fc.assert(
      fc.property(anyAsk, fc.integer({ min: 0, max: 315_576_000_000 }), (ask, initialDelayMs) => {
        const ms = decorrelatedV2(initialDelayMs)(ask)
        assert.ok(Number.isFinite(ms) && ms >= 0, `${ms}`)
      }),
      { numRuns: 1_000 },
    )
  })

  it('remembers nothing: the same question has the same answer, whoever asked in between', () => {
    const curve = decorrelatedV2(100)
    fc.assert(
      fc.property(anyAsk, anyAsk, (ask, other) => {
        const answer = curve(ask)
        curve(other)
        assert.equal(curve(ask), answer)
      }),
    )
  })
})

describe('a curve in a policy', () => {
  const ask: CurveAsk = { attempt: 1, previousDelayMs: 0, roll: 0 }
  const delayOf = (answer: number): number =>
    curveDelayMs(() => answer, { ...DEFAULT_POLICY, minDelayMs: 10 }, ask, ask.roll)

  it('is held between minDelayMs and maxDelayMs, in whole milliseconds', () => {
    assert.equal(delayOf(99.5), 100)
    assert.equal(delayOf(3), 10)
    assert.equal(delayOf(1e9), 5_000)
    assert.equal(delayOf(Infinity), 5_000)
  })

  it('that answers with less than nothing, or with no number, does not cause a retry at once', () => {
    assert.equal(delayOf(-100), 10)
    assert.equal(delayOf(-Infinity), 10)
    assert.equal(delayOf(Number.NaN), 5_000)
    assert.equal(
      curveDelayMs(() => -1, DEFAULT_POLICY, ask, ask.roll),
      0,
    )
  })

  it('is asked with what the wait may depend on', () => {
    const asked: CurveAsk[] = []
    curveDelayMs(asking => asked.push(asking), DEFAULT_POLICY, { attempt: 3, previousDelayMs: 200 }, 0.25)
    assert.deepEqual(asked, [{ attempt: 3, previousDelayMs: 200, roll: 0.25 }])
  })
})

function isNear(value: number, expected: number): boolean {
  return Math.abs(value / expected - 1) <= 0.02
}
