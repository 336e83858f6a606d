import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { runScenario } from '../run-scenario.ts'
import { checkScenario } from '../scenario/check-scenario.ts'
import { checkLimits } from './limits.ts'
import { estimate, meanReading, middleOf } from './over-seeds.ts'
import { arrivalsOf, latenciesOf } from './picture.ts'
import { readingOf, type Reading } from './reading.ts'
import { verdictOf } from './verdict.ts'
import { herdWorld, outageWorld, tiersWorld, withoutRetries, withPolicy } from './worlds.ts'

const STORM = { name: 'storm', retry: { maxAttempts: 4 }, budget: false } as const
const OUTAGE = outageWorld({
  loadPerSecond: 50,
  capacityPerSecond: 80,
  outageMs: 5_000,
  processes: 2,
  policy: STORM,
})

function reading(changes: Partial<Reading>): Reading {
  return {
    amplification: 1,
    peakPerSecond: 100,
    peakTimes: 1,
    overCapacityMs: 0,
    servedShare: 0.8,
    p50Ms: 20,
    p99Ms: 50,
    lastEndMs: 1_000,
    wastedShare: 0,
    isMetastable: false,
    ...changes,
  }
}

describe('the worlds', () => {
  it('are scenarios without a problem', () => {
    const herd = herdWorld({ clients: 100, capacityPerSecond: 50, policy: {} })
    const tiers = tiersWorld([{ name: 'edge', maxAttempts: 2 }], 0.5)
    for (const world of [OUTAGE, herd, tiers, withoutRetries(OUTAGE), withPolicy(OUTAGE, { maxAttempts: 2 })])
      assert.equal(checkScenario(world).problems, undefined, world.name)
  })

  it('storm with retries, and not without', () => {
    const [storm, calm] = [readingOf(runScenario(OUTAGE)), readingOf(runScenario(withoutRetries(OUTAGE)))]
    assert.ok(storm.peakTimes > 2)
    assert.equal(calm.amplification, 1)
    assert.equal(calm.overCapacityMs, 0)
    assert.equal(verdictOf(storm, calm).kind, 'bad')
  })

  it('go by another policy when they are told to', () => {
    const calmer = readingOf(runScenario(withPolicy(OUTAGE, { name: 'two', retry: { maxAttempts: 2 }, budget: false })))
    assert.ok(calmer.peakTimes < readingOf(runScenario(OUTAGE)).peakTimes)
  })

  it('are drawn with what happened, and nobody served by a call that failed', () => {
    const runs = [{ name: 'storm', result: runScenario(OUTAGE) }]
    const { spans, capacityPerSecond, series } = arrivalsOf(runs, OUTAGE)
    assert.deepEqual(spans, [{ name: 'trouble', fromMs: 10_000, untilMs: 15_000 }])
    assert.ok(Math.abs(capacityPerSecond! - 80) < 1e-9)
    assert.equal(series[0]!.first.length, 35)
    const served = latenciesOf(runs).series[0]!.points.at(-1)!.share
    assert.ok(Math.abs(served - readingOf(runs[0]!.result).servedShare) < 1e-9)
  })
})

describe('a reading', () => {
  it('takes the peak as a multiple of a world without retries, down a chain too', () => {
    const chain = [1, 2].map(tier => ({ name: `tier ${tier}`, maxAttempts: 3 }))
    const world = { ...tiersWorld(chain, 1), stepMs: 1_000 }
    const { peakTimes, amplification } = readingOf(runScenario(world))
    assert.equal(amplification, 9)
    assert.ok(Math.abs(peakTimes - 9) < 0.2, String(peakTimes))
  })

  it('is that of a dependency whose capacity is limited, where there is one', () => {
    const result = runScenario(OUTAGE)
    const boundless = { ...result.dependencies['dependency']!, amplification: 99 }
    const { capacityPerSecond: _, ...unlimited } = boundless
    const both = { ...result, dependencies: { other: unlimited, ...result.dependencies } }
    assert.equal(readingOf(both).amplification, readingOf(result).amplification)
    assert.equal(readingOf({ ...result, dependencies: { other: unlimited } }).overCapacityMs, undefined)
  })
})

describe('an estimate over seeds', () => {
  it('is the mean, and wide where the runs differ', () => {
    const runs = [1, 2, 3].map(amplification => reading({ amplification }))
    const { mean, low, high } = estimate(runs, 'amplification')!
    assert.equal(mean, 2)
    // Student's t for two degrees of freedom over the square root of three, and a deviation of one.
    assert.ok(Math.abs(high - 2 - 4.303 / Math.sqrt(3)) < 1e-9)
    assert.ok(Math.abs(mean - low - (high - mean)) < 1e-9)
  })

  it('does not exist where one of the runs never recovered', () => {
    assert.equal(estimate([reading({ recoveredAfterMs: 0 }), reading({})], 'recoveredAfterMs'), undefined)
  })

  it('is made of all measures, without those that a run lacks', () => {
    const one = reading({ amplification: 1, recoveredAfterMs: 0 })
    const { recoveredAfterMs, amplification, isMetastable } = meanReading([one, reading({ isMetastable: true })])
    assert.deepEqual([recoveredAfterMs, amplification, isMetastable], [undefined, 1, true])
  })

  it('is shown by the run in the middle', () => {
    assert.equal(
      middleOf([5, 1, 3], value => value),
      3,
    )
  })
})

describe('limits', () => {
  it('hold up to the limit itself, and not beyond', () => {
    const at = (maxAmplification: number): boolean =>
      checkLimits([reading({ amplification: 1.3 })], { maxAmplification })[0]!.holds
    assert.deepEqual([at(1.3), at(1.29)], [true, false])
    const [served] = checkLimits([reading({ servedShare: 0.99 })], { minServedShare: 0.99 })
    assert.ok(served!.holds)
  })

  it('do not hold for a recovery that never came', () => {
    const [recovery] = checkLimits([reading({})], { maxRecoveryMs: 1e9 })
    assert.equal(recovery!.holds, false)
    assert.match(recovery!.say, /^it never recovered/)
  })
})

describe('the verdict', () => {
  const cases: readonly (readonly [what: string, changes: Partial<Reading>, kind: string, say: RegExp])[] = [
    ['a collapse that stays', { isMetastable: true }, 'bad', /the collapse stays/],
    ['a storm for nothing', { overCapacityMs: 5_000, peakTimes: 3 }, 'bad', /3 × as high and save almost nothing/],
    ['a storm that helps', { overCapacityMs: 5_000, servedShare: 0.9 }, 'bad', /save 10 in a hundred .* for 5 s/],
    ['help without harm', { servedShare: 0.9, amplification: 1.1 }, 'good', /for 1\.1 × the calls, within/],
    [
      'help where nobody knows the capacity',
      { servedShare: 0.9, overCapacityMs: undefined as never },
      'good',
      /the calls: 80 %/,
    ],
    ['neither help nor harm', { amplification: 1.1 }, 'good', /do no harm/],
    ['calls for nothing', { amplification: 2 }, 'neither', /2 × the calls and change little/],
  ]
  for (const [what, changes, kind, say] of cases)
    it(`names ${what}`, () => {
      const verdict = verdictOf(reading(changes), reading({}))
      assert.equal(verdict.kind, kind)
      assert.match(verdict.say, say)
    })
})
