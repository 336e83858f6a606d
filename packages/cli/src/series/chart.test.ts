import type { Series } from '@secondwind/client'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { createPage } from '../terminal/page.ts'
import { sparkline } from '../terminal/sparkline.ts'
import { showSeries } from './chart.ts'

const QUIET = { first: 1, retry: 0, succeeded: 1, failed: 0, held: 0 }
const BUSY = { first: 1_109, retry: 7, succeeded: 1_000, failed: 116, held: 40, latencyMs: { p50: 80, p99: 412 } }

/** Two hundred slots, of which one near the beginning is busy. */
function aSeries(resolution: Series['resolution']): Series {
  const slots = Array.from({ length: 200 }, (_, slot) => ({ at: 1_000 * slot, ...(slot === 2 ? BUSY : QUIET) }))
  return { resolution, destination: 'https://api.pay.example', slots }
}

function drawn(series: Series, columns: number): readonly string[] {
  return showSeries(series, createPage({ columns, hasColors: false, isAscii: false })).split('\n')
}

describe('the chart of a series', () => {
  it('draws the whole span at any width, and says how much a bar stands for', () => {
    for (const { columns, cell, bars, highest } of [
      { columns: 60, cell: 'the highest of 7 seconds each', bars: 29, highest: 0 },
      { columns: 80, cell: 'the highest of 4 seconds each', bars: 50, highest: 0 },
      { columns: 240, cell: 'a second each', bars: 200, highest: 2 },
    ]) {
      const lines = drawn(aSeries('second'), columns)
      assert.ok(
        lines.every(line => line.length <= columns),
        lines.join('\n'),
      )
      assert.ok(lines.join('\n').includes(`${cell}, from 1970-01-01T00:00:00`), lines.join('\n'))
      const [row] = /[▁-█]+/.exec(lines.find(line => line.startsWith('  first'))!)!
      assert.deepEqual([row.length, row.indexOf('█')], [bars, highest])
    }
  })

  it('ends each row with its peak and the unit of that, and says where there was none', () => {
    const peaks = (series: Series): string[] =>
      drawn(series, 80).flatMap(line => /(?:peak .*|none)$/.exec(line)?.[0] ?? [])
    assert.deepEqual(peaks(aSeries('second')), [
      'peak 1,109/s',
      'peak 7/s',
      'peak 116/s',
      'peak 40 tasks',
      'peak 412 ms',
    ])
    assert.equal(peaks(aSeries('minute'))[0], 'peak 1,109/min')
    assert.deepEqual(peaks({ resolution: 'second', slots: [{ at: 0, ...QUIET }] }).slice(0, 2), ['peak 1/s', 'none'])
  })
})

describe('a sparkline', () => {
  it('has a character for each value, and a blank for nothing', () => {
    assert.equal(sparkline([1, 0, 4, 8], false), '▁ ▄█')
    assert.equal(sparkline([1, 0, 4, 8], true), '_ -#')
    assert.equal(sparkline([0, 0], false), '')
  })
})
