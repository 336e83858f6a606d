import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { seededRandom } from './seeded-random.ts'

function draw(count: number, seed: number): number[] {
  const random = seededRandom(seed)
  return Array.from({ length: count }, random)
}

describe('a seeded random', () => {
  it('draws these numbers for these seeds, for ever: recorded seeds must keep their meaning', () => {
    assert.deepEqual(draw(4, 0), [0.9312841903287774, 0.3982485991089345, 0.5948503441147878, 0.20480749020850408])
    assert.deepEqual(draw(4, 42), [0.9446892055893704, 0.3762733032342972, 0.5354048006172317, 0.43052786813108646])
    assert.deepEqual(draw(2, -1), [0.9528764848533666, 0.5584615318573176])
    assert.deepEqual(draw(2, Number.MAX_SAFE_INTEGER), [0.5707952665259611, 0.585316031891883])
  })

  it('repeats itself for the same seed and differs for any other', () => {
    const seeds = fc.tuple(fc.maxSafeInteger(), fc.maxSafeInteger())
    fc.assert(
      fc.property(seeds, ([one, other]) => {
        assert.deepEqual(draw(3, one), draw(3, one))
        if (one !== other) assert.notDeepEqual(draw(3, one), draw(3, other))
      }),
    )
  })

  it('tells seeds apart that differ only above their lowest 32 bits', () => {
    assert.notDeepEqual(draw(2, 7), draw(2, 7 + 2 ** 32))
    assert.notDeepEqual(draw(2, 7), draw(2, 7 - 2 ** 32))
  })

  it('stays within [0, 1)', () => {
    fc.assert(fc.property(fc.maxSafeInteger(), seed => draw(100, seed).every(number => number >= 0 && number < 1)))
  })

  it('spreads evenly, also in the first numbers of neighbouring seeds', () => {
    const oneStream = draw(100_000, 1)
    const firsts = Array.from({ length: 100_000 }, (_, seed) => draw(1, seed)[0]!)
    for (const numbers of [oneStream, firsts]) {
      assert.ok(Math.abs(mean(numbers) - 1 / 2) < 0.005, 'mean')
      assert.ok(Math.abs(mean(numbers.map(number => (number - 1 / 2) ** 2)) - 1 / 12) < 0.002, 'variance')
      assert.ok(chiSquare(numbers, 100) < 150, 'a hundred equal shares')
    }
  })

  it('has no memory: a number says nothing about the next', () => {
    const numbers = draw(100_000, 2)
    const products = numbers.slice(1).map((number, index) => (number - 1 / 2) * (numbers[index]! - 1 / 2))
    assert.ok(Math.abs(mean(products) * 12) < 0.015)
  })

  it('uses all 53 bits: a wait of ten years still ends in any millisecond', () => {
    const lowBits = draw(1_000, 3).map(number => (number * 2 ** 53) % 2)
    assert.ok(Math.abs(mean(lowBits) - 1 / 2) < 0.1)
  })

  it('refuses a seed that is not a whole number', () => {
    for (const seed of [0.5, Number.NaN, Infinity, 2 ** 60, '7' as unknown as number])
      assert.throws(() => seededRandom(seed), { code: 'invalid-options', message: /seed must be a whole number/ })
  })
})

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length
}

/** About `shares` when the numbers are evenly spread; beyond 1.5 times that once in a thousand seeds. */
function chiSquare(numbers: readonly number[], shares: number): number {
  const counts = Array.from({ length: shares }, () => 0)
  for (const number of numbers) counts[Math.floor(number * shares)]!++
  const expected = numbers.length / shares
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
}
