import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { Distribution } from '../scenario/distribution.ts'
import { drawsOf, longerShareOf, meanOf, survivalQuantileMs } from './draws.ts'
import { dieFor } from './streams.ts'

const SAMPLES = 200_000

function sample(distribution: Distribution): number[] {
  const draw = drawsOf(distribution, dieFor(1, 'test'))
  return Array.from({ length: SAMPLES }, draw).toSorted((one, other) => one - other)
}

const at = (sorted: readonly number[], share: number): number => sorted[Math.floor(share * sorted.length)]!
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
const isNear = (ours: number, theirs: number, share: number): boolean => Math.abs(ours - theirs) <= share * theirs

describe('draws', () => {
  const DISTRIBUTIONS: readonly Distribution[] = [
    7,
    { kind: 'exponential', meanMs: 20 },
    { kind: 'uniform', fromMs: 5, toMs: 15 },
    { kind: 'normal', meanMs: 10, deviationMs: 2 },
    { kind: 'log-normal', medianMs: 50, p99Ms: 200 },
    { kind: 'bimodal', slowShare: 0.1, fast: 1, slow: { kind: 'exponential', meanMs: 100 } },
    {
      kind: 'histogram',
      buckets: [
        { upToMs: 10, count: 3 },
        { upToMs: 20, count: 0 },
        { upToMs: 40, count: 1 },
      ],
    },
  ]
  for (const distribution of DISTRIBUTIONS)
    it(`have the mean that is printed for ${JSON.stringify(distribution)}`, () => {
      assert.ok(isNear(mean(sample(distribution)), meanOf(distribution)!, 0.02))
    })

  it('of a log-normal latency have its median and its p99', () => {
    const sorted = sample({ kind: 'log-normal', medianMs: 50, p99Ms: 200 })
    assert.ok(isNear(at(sorted, 0.5), 50, 0.01))
    assert.ok(isNear(at(sorted, 0.99), 200, 0.02))
  })

  it('by a survival curve are longer than each of its points as often as it says', () => {
    const points = [
      { ms: 1, longerShare: 1 },
      { ms: 10, longerShare: 0.02 },
      { ms: 100, longerShare: 0.002 },
    ]
    const sorted = sample({ kind: 'survival', points })
    assert.ok(isNear(at(sorted, 0.98), 10, 0.05))
    assert.ok(isNear(at(sorted, 0.998), 100, 0.15))
    assert.ok(isNear(survivalQuantileMs(points, 0.0002), 1_000, 0.000_001))
  })

  it('by a survival curve have shares and quantiles that undo each other', () => {
    const points = [
      { ms: 1, longerShare: 1 },
      { ms: 10, longerShare: 0.02 },
      { ms: 69, longerShare: 0.003 },
    ]
    for (const share of [0.9, 0.02, 0.01, 0.003, 1e-5])
      assert.ok(isNear(longerShareOf(points, survivalQuantileMs(points, share)), share, 1e-9))
  })

  it('of one purpose are not shifted by another, and differ from it', () => {
    const first = (purpose: string, seed = 1): number[] => Array.from({ length: 5 }, dieFor(seed, purpose))
    assert.deepEqual(first('arrivals'), first('arrivals'))
    assert.notDeepEqual(first('arrivals'), first('service'))
    assert.notDeepEqual(first('arrivals'), first('arrivals', 2))
    assert.notDeepEqual(first('ab'), first('ba'))
  })
})
