import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { sayMs, sayNumber, sayRate, sayShare, sayTimes, unitFor } from './format.ts'

describe('numbers for people', () => {
  it('have three digits, and thousands apart', () => {
    assert.deepEqual([0, 0.0311, 1.875, 12.34, 99.96, 1_611.4, 1_234_567, 2e15, 1e9 - 1, 1e-5].map(sayNumber), [
      '0',
      '0.0311',
      '1.88',
      '12.3',
      '100',
      '1,611',
      '1,234,567',
      '2.00e+15',
      '999,999,999',
      '1.0e-5',
    ])
  })

  it('have their unit', () => {
    assert.equal(sayRate(1_500), '1,500/s')
    assert.equal(sayTimes(27), '27 ×')
    assert.deepEqual(
      [0, 0.5, 250, 1_500, 90_000, 5_400_000, 172_800_000].map(ms => sayMs(ms)),
      ['0 ms', '0.5 ms', '250 ms', '1.5 s', '1.5 min', '1.5 h', '2 d'],
    )
    assert.equal(sayMs(90_000, unitFor(100_000)), '90 s')
  })

  it('of shares are never rounded up to all, nor down to none', () => {
    assert.deepEqual([0, 1e-9, 0.000_4, 0.25, 0.809, 0.9995, 0.999_999_9, 1].map(sayShare), [
      '0 %',
      '< 0.001 %',
      '0.04 %',
      '25 %',
      '80.9 %',
      '99.95 %',
      '> 99.999 %',
      '100 %',
    ])
  })
})
