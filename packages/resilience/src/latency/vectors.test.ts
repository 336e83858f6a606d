import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'vitest'
import { noLatencies, percentileMs, recordLatency } from './decide.ts'

interface Case {
  readonly name: string
  readonly sampleCalls: number
  readonly durations: readonly { readonly times: number; readonly ms: number }[]
  readonly percentiles: readonly {
    readonly percentile: number
    readonly minSamples?: number
    readonly ms: number | null
  }[]
}

describe('vectors/latency.json', () => {
  const url = new URL('../../../../vectors/latency.json', import.meta.url)
  const { about: _, cases, ...rest } = JSON.parse(readFileSync(url, 'utf8')) as { about: string; cases: Case[] }

  it('has no field that nobody reads', () => assert.deepEqual(rest, {}))

  for (const { name, sampleCalls, durations, percentiles, ...rest } of cases)
    it(`latency: ${name}`, () => {
      assert.deepEqual(rest, {})
      const latencies = noLatencies(sampleCalls)
      for (const { times, ms, ...rest } of durations) {
        assert.deepEqual(rest, {})
        for (let time = 0; time < times; time++) recordLatency(latencies, ms)
      }
      for (const { percentile, minSamples, ms, ...rest } of percentiles) {
        assert.deepEqual(rest, {})
        const is = percentileMs(latencies, percentile, minSamples)
        assert.ok(ms === null ? is === undefined : Math.abs(is! / ms - 1) < 1e-9, `p${percentile}: ${is}, not ${ms}`)
      }
    })
})
