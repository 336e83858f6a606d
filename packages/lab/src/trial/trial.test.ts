import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { RunResult } from '../measure/result.ts'
import { smallWorld } from '../run-scenario.test-kit.ts'
import { runScenario } from '../run-scenario.ts'
import { checkScenario } from '../scenario/check-scenario.ts'
import type { ClientGroup, Scenario } from '../scenario/scenario.ts'
import { factsOf } from './facts.ts'
import { checkLimits } from './limits.ts'
import { estimate, estimatesOf, meanReading, middleOf } from './over-seeds.ts'
import { arrivalsOf, latenciesOf } from './picture.ts'
import { readingOf, readingsOf, worstOf, type Reading } from './reading.ts'
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
    repeatedCalls: 10,
    operations: 100,
    servedShare: 0.8,
    unended: 0,
    goodputPerSecond: 80,
    hadTrouble: true,
    p50Ms: 20,
    p99Ms: 50,
    meanMs: 22,
    deviationMs: 6,
    lastEndMs: 1_000,
    longestQueue: 40,
    wastedShare: 0.03,
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

  it('go by another policy in the place of their own, and leave that of a tier alone', () => {
    const other = { maxAttempts: 9 }
    const chain: Scenario = {
      ...OUTAGE,
      clients: [
        { ...OUTAGE.clients[0]!, pipeline: 'web' },
        { ...OUTAGE.clients[0]!, name: 'more', pipeline: 'batch' },
      ],
      pipelines: { web: {}, batch: {}, policy: STORM },
      dependencies: {
        ...OUTAGE.dependencies,
        api: { serviceMs: 1, downstream: [{ calls: 'dependency', pipeline: 'policy' }] },
      },
    }
    assert.deepEqual(withPolicy(chain, other).pipelines, { web: other, batch: other, policy: STORM })
    const { pipeline: _, ...bare } = OUTAGE.clients[0]!
    const { clients, pipelines } = withPolicy({ ...chain, clients: [bare] }, other)
    assert.deepEqual([clients[0]!.pipeline, pipelines!['policy 2'], pipelines!['policy']], ['policy 2', other, STORM])
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

describe('a reading of what never ends', () => {
  const forever = smallWorld({ server: { servers: 1, troubles: [{ fromMs: 2_000, untilMs: 1e7, capacity: 0 }] } })

  it('counts it as not served, and draws it as such', () => {
    const result = runScenario(forever)
    const { operations, succeeded, unended, successShare } = result.clients['clients']!
    assert.deepEqual([operations, succeeded, unended], [99, 19, 80])
    assert.ok(Math.abs(successShare - 19 / 99) < 1e-9)
    const { servedShare } = readingOf(result)
    assert.equal(servedShare, successShare)
    const [{ points } = { points: [] }] = latenciesOf([{ name: 'a', result }]).series
    assert.ok(Math.abs(points.at(-1)!.share - servedShare) < 1e-9)
    assert.equal(checkLimits([readingOf(result)], { minServedShare: 0.99 })[0]!.holds, false)
  })

  it('counts what was under way when the warm-up ended among what is known', () => {
    const { clients } = runScenario({ ...forever, warmUpMs: 5_000 })
    assert.deepEqual([clients['clients']!.operations, clients['clients']!.successShare], [50, 0])
  })
})

describe('several groups of clients', () => {
  const [few, many] = [1, 100].map((perSecond, place) => ({
    name: ['few', 'many'][place]!,
    calls: 'server',
    pipeline: ['once', 'ten'][place]!,
    arrivals: { kind: 'poisson', perSecond } as const,
  })) as [ClientGroup, ClientGroup]
  const world: Scenario = {
    ...smallWorld({ server: { errorRate: 0.5 } }),
    clients: [few, many],
    pipelines: {
      once: { name: 'o', retry: { maxAttempts: 1 }, budget: false },
      ten: { name: 't', retry: { maxAttempts: 10 }, budget: false },
    },
  }

  it('are each drawn by their own name in one run, and together where runs are compared', () => {
    const result = runScenario(world)
    const byGroup = latenciesOf([{ name: 'operations', result }]).series
    assert.deepEqual(
      byGroup.map(({ name }) => name),
      ['few', 'many'],
    )
    for (const { name, points } of byGroup)
      assert.ok(Math.abs(points.at(-1)!.share - result.clients[name]!.successShare) < 1e-9, name)
    const compared = latenciesOf(['a', 'b'].map(name => ({ name, result }))).series
    assert.ok(Math.abs(compared[0]!.points.at(-1)!.share - readingOf(result).servedShare) < 1e-9)
  })

  it('are read together: percentiles, mean and deviation are those of all who were served', () => {
    const calling = (name: string, perSecond: number): ClientGroup => ({
      name,
      calls: name,
      arrivals: { kind: 'constant', perSecond },
    })
    const result = runScenario({
      ...smallWorld({}),
      clients: [calling('slow', 10), calling('fast', 90)],
      dependencies: { slow: { serviceMs: 1_000 }, fast: { serviceMs: 10 } },
    })
    const { p50Ms, p99Ms, meanMs, deviationMs } = readingOf(result)
    const { slow, fast } = result.clients
    assert.deepEqual([p50Ms, p99Ms], [fast!.latency.p50Ms, slow!.latency.p99Ms])
    const [slowCount, fastCount] = [slow!.latency.count, fast!.latency.count]
    const count = slowCount + fastCount
    const spread = (1_000 - 10) * Math.sqrt((slowCount * fastCount) / (count * (count - 1)))
    assert.equal(meanMs!.toFixed(6), ((1_000 * slowCount + 10 * fastCount) / count).toFixed(6))
    assert.equal(deviationMs!.toFixed(6), spread.toFixed(6))
    assert.equal(readingOf({ ...result, clients: { fast: fast! } }).p99Ms, fast!.latency.p99Ms)
  })
})

describe('runs that are compared', () => {
  it('are all seen at the one dependency at which any of them suffers most', () => {
    const result = runScenario(OUTAGE)
    const { dependency } = result.dependencies
    const at = (api: number, db: number): RunResult => ({
      ...result,
      dependencies: { api: { ...dependency!, amplification: api }, db: { ...dependency!, amplification: db } },
    })
    const runs = [at(1.1, 1.28), at(1.48, 1.2)]
    assert.equal(worstOf([readingsOf(runs[0]!)]), 'db')
    assert.equal(worstOf(runs.map(readingsOf)), 'api')
    assert.deepEqual(
      runs.map(run => readingOf(run, 'api').amplification),
      [1.1, 1.48],
    )
    const named = runs.map((result, place) => ({ name: `${place}`, result }))
    const both = { ...OUTAGE, dependencies: { api: { serviceMs: 1 }, db: { serviceMs: 1 } } }
    assert.equal(arrivalsOf(named, both).title, 'calls at api')
    assert.equal(arrivalsOf(named, both, 'db').title, 'calls at db')
  })

  it('name the tier whose first attempts are drawn', () => {
    const world = tiersWorld([{ name: 'edge', maxAttempts: 2 }], 0.5)
    const runs = [{ name: 'a', result: runScenario(world) }]
    assert.equal(arrivalsOf(runs, world, 'end').firstAttemptsOf, 'tier 1')
    assert.equal(arrivalsOf(runs, world, 'tier 1').firstAttemptsOf, undefined)
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

  it('has a range for each measure that all runs have', () => {
    const found = estimatesOf([reading({ longestQueue: 40, recoveredAfterMs: 0 }), reading({ longestQueue: 60 })])
    assert.deepEqual(
      Object.entries(found.longestQueue!).map(([name, value]) => [name, Math.round(value)]),
      [
        ['mean', 50],
        ['low', -77],
        ['high', 177],
      ],
    )
    assert.equal(found.recoveredAfterMs, undefined)
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
    assert.equal(recovery!.say, 'missing: it never recovered, asked for at most 11.6 d')
    const [sometimes] = checkLimits([reading({ recoveredAfterMs: 0 }), reading({})], { maxRecoveryMs: 1e9 })
    assert.match(sometimes!.say, /^missing: it never recovered in 1 of 2 runs,/)
  })

  it('do not hold for the patience of those who were served, when nobody was', () => {
    const server = { errorRate: 1 }
    const nobody = readingOf(runScenario(smallWorld({ server })))
    assert.deepEqual([nobody.servedShare, nobody.p50Ms, nobody.p99Ms], [0, undefined, undefined])
    const [p99] = checkLimits([nobody], { maxP99Ms: 1 })
    assert.equal(p99!.holds, false)
    assert.match(p99!.say, /^missing: nothing was served/)
  })
})

describe('the verdict', () => {
  const cases: readonly (readonly [what: string, changes: Partial<Reading>, kind: string, say: RegExp])[] = [
    ['a collapse that stays', { isMetastable: true }, 'bad', /the collapse stays/],
    [
      'a loss',
      { servedShare: 0.742, amplification: 1.05 },
      'bad',
      /^Retries cost 5\.8 in a hundred operations, for 1\.05 × the calls: 80 % succeed without retries, 74\.2 % with/,
    ],
    ['a loss by a storm', { servedShare: 0.7, overCapacityMs: 5_000 }, 'bad', /^Retries cost 10 in a hundred/],
    ['a storm for little', { servedShare: 0.805, overCapacityMs: 5_000 }, 'bad', /as high and save almost nothing/],
    ['a storm for nothing', { overCapacityMs: 5_000, peakTimes: 3 }, 'bad', /3 × as high and save nothing/],
    ['a world without retries', { repeatedCalls: 0 }, 'neither', /^No call was made twice: 80 % of the operations/],
    ['an empty world', { operations: 0, repeatedCalls: 0, servedShare: 0 }, 'neither', /^Nothing was called/],
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

  it('says how much longer it is over capacity where it would be without retries, too, if it is', () => {
    const over = (once: number): string =>
      verdictOf(reading({ overCapacityMs: 500, servedShare: 0.9 }), reading({ overCapacityMs: once })).say
    assert.match(over(250), /over its capacity for 250 ms more:/)
    assert.match(over(0), /over its capacity for 500 ms:/)
    assert.match(
      over(500),
      /^Retries save 10 in a hundred operations for 1 × the calls, and no longer over the capacity:/,
    )
  })
})

describe('the facts', () => {
  const once = [reading({})]
  const lines = (readings: readonly Reading[]): string[] =>
    factsOf({ dependency: 'db', readings, once, seed: 7 }).map(
      ({ name, value, note = '' }) => `${name}: ${value} ${note}`,
    )

  it('are those of one dependency, and of the operations that were served', () => {
    assert.deepEqual(lines([reading({ overCapacityMs: 2_000, recoveredAfterMs: 0 })]), [
      'peak at db: 100/s 1 × that without retries, over its capacity for 2 s',
      'calls per operation: 1 ',
      'served: 80 % 80 % without retries',
      'goodput: 80/s ',
      'longest queue: 40 3 % of the work was for nobody',
      'of those served: half within 20 ms 99 in 100 within 50 ms',
      'on average: 22 ms standard deviation 6 ms',
      'recovered: at once ',
      'seed: 7 ',
    ])
  })

  it('say what never ended, and leave out the time of those who were served when nobody was', () => {
    const {
      p50Ms: _,
      p99Ms: __,
      meanMs: ___,
      deviationMs: ____,
      ...nobody
    } = reading({ unended: 4_040, servedShare: 0, hadTrouble: false })
    const said = lines([nobody]).join('\n')
    assert.match(said, /\nnever ended: 4,040 operations; they count as not served\n/)
    assert.doesNotMatch(said, /of those served|on average|recovered/)
  })

  it('say from when to when it recovered', () => {
    const readings = [0, 1_000, 500].map(recoveredAfterMs => reading({ recoveredAfterMs }))
    assert.ok(lines(readings).includes('recovered: after 500 ms (0 ms to 1.74 s) '), lines(readings).join('\n'))
  })

  it('say in how many runs it never recovered', () => {
    const said = lines([reading({ recoveredAfterMs: 0 }), reading({}), reading({})])
    assert.ok(said.includes('recovered: it never recovered in 2 of 3 runs '))
    assert.ok(said.includes('seed: 3 of them, with 95 % confidence '))
  })
})
