import assert from 'node:assert/strict'
import { it } from 'node:test'
import { compare, quantile, seededRandom, shuffle, summarize } from './statistics.ts'

it('takes the middle value as median, or the mean of the two in the middle', () => {
  assert.deepEqual(summarize([30, 10, 20]), { median: 20, min: 10, max: 30 })
  assert.deepEqual(summarize([40, 10, 20, 30]), { median: 25, min: 10, max: 40 })
})

it('reads a quantile off the sorted values', () => {
  assert.equal(quantile([10, 20, 30, 40], 0.5), 20)
  assert.equal(quantile([10, 20, 30, 40], 0.99), 40)
  assert.ok(Number.isNaN(quantile([], 0.5)))
})

it('divides medians and best laps, and spreads over the ratios within each lap', () => {
  assert.deepEqual(compare([10, 20, 60], [20, 20, 40]), { median: 1, min: 0.5, max: 1.5, best: 0.5 })
})

it('takes the most of a rate as its best', () => {
  assert.equal(compare([10, 20], [40, 10], true).best, 0.5)
})

it('shuffles without loss, and the same way from the same seed', () => {
  const items = ['a', 'b', 'c', 'd', 'e']
  const order = shuffle(items, seededRandom(7))
  assert.deepEqual(order.toSorted(), items)
  assert.deepEqual(shuffle(items, seededRandom(7)), order)
  assert.notDeepEqual(shuffle(items, seededRandom(8)), order)
})

it('draws every order about as often as any other', () => {
  const random = seededRandom(1)
  const counts = new Map<string, number>()
  for (let n = 0; n < 6_000; n++) {
    const order = shuffle(['a', 'b', 'c'], random).join('')
    counts.set(order, (counts.get(order) ?? 0) + 1)
  }
  assert.equal(counts.size, 6)
  for (const count of counts.values()) assert.ok(count > 850 && count < 1_150)
})
