import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { amountAxis, logTimeAxis, roundStep, timeAxis } from './axis.ts'

const labels = (axis: { ticks: readonly { label: string }[] }): string[] => axis.ticks.map(({ label }) => label)
const anyLength = fc.double({ min: 1e-3, max: 1e12, noNaN: true })

describe('an axis', () => {
  it('of amounts begins at nothing and ends at a round number that nothing passes', () => {
    assert.deepEqual(labels(amountAxis(1_611, 6, String)), ['0', '500', '1000', '1500', '2000'])
    assert.deepEqual(labels(amountAxis(1, 4, String)), ['0', '0.25', '0.5', '0.75', '1'])
    assert.equal(amountAxis(0, 4, String).max, 1)
  })

  it('of time has one unit, and steps that clocks have', () => {
    assert.deepEqual(labels(timeAxis(30_000, 7)), ['0 s', '5 s', '10 s', '15 s', '20 s', '25 s', '30 s'])
    assert.deepEqual(labels(timeAxis(90_000, 6)), ['0 s', '15 s', '30 s', '45 s', '60 s', '75 s', '90 s'])
    assert.deepEqual(labels(timeAxis(7_200_000, 4)), ['0 h', '0.5 h', '1 h', '1.5 h', '2 h'])
    assert.deepEqual(labels(timeAxis(1_500, 3)), ['0 ms', '500 ms', '1,000 ms', '1,500 ms'])
  })

  it('of time in logarithms has the marks that people know, and zero at its beginning', () => {
    const axis = logTimeAxis(50, 90_000)
    assert.deepEqual(labels(axis), ['10 ms', '100 ms', '1 s', '10 s', '1 min'])
    assert.equal(axis.place(0), 0)
    assert.ok(Math.abs(axis.place(100) - axis.place(10) - (axis.place(1_000) - axis.place(100))) < 1e-12)
  })

  it('places everything between its ends, in order', () => {
    fc.assert(
      fc.property(anyLength, anyLength, anyLength, (one, other, end) => {
        const [less, more] = [Math.min(one, other), Math.max(one, other)]
        for (const axis of [amountAxis(end, 6, String), timeAxis(end, 6), logTimeAxis(less, more)]) {
          assert.ok(axis.ticks.length >= 1 && axis.ticks.length <= 62, `${axis.ticks.length} marks`)
          assert.ok(axis.place(less) >= 0 && axis.place(less) <= axis.place(more) && axis.place(more) <= 1)
        }
        assert.ok(amountAxis(end, 6, String).max >= end * (1 - 1e-9))
      }),
    )
  })

  it('steps by 1, 2, 2.5 or 5 of a power of ten', () => {
    assert.deepEqual([0.03, 1, 1.01, 2.3, 4, 6, 990].map(roundStep), [0.05, 1, 2, 2.5, 5, 10, 1_000])
  })
})
