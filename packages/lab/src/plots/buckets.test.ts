import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { columnsOf, type Columns } from './buckets.ts'
import { heatOf } from './heat.ts'

function columns(first: number[], retries: number[], limit: number): Columns {
  return columnsOf({ kind: 'arrivals', title: '', bucketMs: 500, series: [{ name: 'a', first, retries }] }, limit)
}

describe('buckets in columns', () => {
  it('are rates: twice the count for half a second', () => {
    const { series, columnMs, endMs, peakPerSecond } = columns([1, 2], [0, 3], 10)
    assert.deepEqual(series[0]!.columns, [
      { first: 2, retries: 0, hedges: 0, total: 2 },
      { first: 4, retries: 6, hedges: 0, total: 10 },
    ])
    assert.deepEqual({ columnMs, endMs, peakPerSecond }, { columnMs: 500, endMs: 1_000, peakPerSecond: 10 })
  })

  it('are means over neighbours where there are too many, and a short last column is of its own time', () => {
    const { series, columnMs } = columns([10, 20, 30], [], 2)
    assert.equal(columnMs, 1_000)
    assert.deepEqual(
      series[0]!.columns.map(({ total }) => total),
      [30, 60],
    )
  })

  it('lose no call, however they are merged', () => {
    const anyCounts = fc.array(fc.nat(100), { minLength: 1, maxLength: 100 })
    fc.assert(
      fc.property(anyCounts, fc.integer({ min: 1, max: 120 }), (counts, limit) => {
        const { series, columnMs, endMs } = columns(counts, [], limit)
        const merged = series[0]!.columns
        assert.ok(merged.length <= limit)
        const calls = merged.reduce((sum, { total }, index) => {
          const lengthMs = Math.min(endMs, (index + 1) * columnMs) - index * columnMs
          return sum + (total * lengthMs) / 1_000
        }, 0)
        const counted = counts.reduce((sum, count) => sum + count, 0)
        assert.ok(Math.abs(calls - counted) < 1e-6)

        const heat = heatOf({ kind: 'attempt-heatmap', title: '', bucketMs: 500, rows: [counts] }, limit)
        assert.deepEqual(
          heat.rows[0]!.map(rate => rate.toFixed(6)),
          merged.map(({ total }) => total.toFixed(6)),
        )
      }),
    )
  })
})
