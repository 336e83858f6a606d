import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { addLatencies, countLatency, noLatencies, percentile, type Latencies } from './latencies.ts'

function counted(values: readonly number[]): Latencies {
  const latencies = noLatencies()
  for (const ms of values) countLatency(latencies, ms)
  return latencies
}

const durations = fc.array(fc.nat(300_000), { minLength: 1, maxLength: 200 })

describe('latencies', () => {
  it('give percentiles within a sixteenth of the right one, and to the millisecond below sixteen', () => {
    fc.assert(
      fc.property(durations, fc.constantFrom(0.01, 0.5, 0.9, 0.99, 1), (values, share) => {
        const right = values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1]!
        const told = percentile(counted(values), share)!
        assert.ok(Math.abs(told - right) <= (right < 16 ? 0 : right / 16), `${told} instead of ${right}`)
      }),
    )
  })

  it('added up are those of all calls together', () => {
    fc.assert(
      fc.property(durations, durations, (some, others) => {
        const sum = counted(some)
        addLatencies(sum, counted(others))
        assert.deepEqual(sum, counted([...some, ...others]))
      }),
    )
  })

  it('of nobody are none, and what no attempt takes is still counted', () => {
    assert.equal(percentile(noLatencies(), 0.5), undefined)
    assert.equal(percentile(counted([-5]), 0.5), 0)
    assert.ok(percentile(counted([1e12]), 0.5)! > 400_000)
  })
})
