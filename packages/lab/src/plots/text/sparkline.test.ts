import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { bar, sparkline } from './sparkline.ts'

describe('a sparkline', () => {
  it('has a cell for each value, and means where there are more', () => {
    assert.equal(sparkline([0, 1, 2, 3, 4, 5, 6, 7], { columns: 8 }), '▁▂▃▄▅▆▇█')
    assert.equal(sparkline([0, 0, 7, 7, 14, 14, 0], { columns: 4 }), '▁▅█▁')
  })

  it('shares a scale with others, linear or by factors', () => {
    assert.equal(sparkline([10, 100, 1_000], { columns: 3, max: 10_000 }), '▁▁▂')
    assert.equal(sparkline([10, 100, 1_000], { columns: 3, max: 10_000, scale: 'log' }), '▃▅▆')
  })

  it('has a space where there is no number, and ASCII when asked', () => {
    assert.equal(sparkline([1, NaN, 0], { columns: 3, ascii: true }), '# _')
    assert.equal(sparkline([], { columns: 3 }), '')
  })

  it('and a bar are never wider than asked', () => {
    const anyValues = fc.array(fc.double({ min: 0, max: 1e9 }), { maxLength: 200 })
    fc.assert(
      fc.property(anyValues, fc.integer({ min: 1, max: 80 }), fc.boolean(), (values, columns, ascii) => {
        assert.ok(sparkline(values, { columns, ascii }).length <= columns)
        for (const value of values) assert.ok(bar(value, { columns, max: 1e6, ascii }).length <= columns)
      }),
    )
  })
})

describe('a bar', () => {
  it('is as long as its share of the most, to an eighth of a column', () => {
    assert.equal(bar(50, { columns: 10, max: 100 }), '█████')
    assert.equal(bar(53, { columns: 10, max: 100 }), '█████▎')
    assert.equal(bar(53, { columns: 10, max: 100, ascii: true }), '#####')
  })

  it('is a trace of what is almost nothing, and nothing of nothing', () => {
    assert.equal(bar(0.001, { columns: 10, max: 100 }), '▏')
    assert.equal(bar(0, { columns: 10, max: 100 }), '')
    assert.equal(bar(NaN, { columns: 10, max: 100 }), '')
  })
})
