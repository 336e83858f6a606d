import { runScenario } from '../run-scenario.ts'
import type { Scenario } from '../scenario/scenario.ts'
import { immediately } from './published-policies.ts'
import { between, holds, mean, near, seedsOf, type Effort, type Finding, type Reproduction } from './reproduction.ts'

/** A database that stalls for ten seconds, and clients that ask a second time after one second. */
function stalledDatabase(perSecond: number, dropsExpired = false): Scenario {
  return {
    name: `stall at ${perSecond}/s`,
    durationMs: 420_000,
    drainMs: 0,
    clients: [{ name: 'application', calls: 'database', pipeline: 'twice', arrivals: { kind: 'poisson', perSecond } }],
    pipelines: { twice: immediately('twice', 2, 1_000) },
    dependencies: {
      database: {
        servers: 1,
        serviceMs: 1_000 / 300,
        queue: { dropsExpired },
        troubles: [{ fromMs: 20_000, untilMs: 30_000, capacity: 0 }],
      },
    },
  }
}

function lateGoodput(scenario: Scenario, perSecond: number, seeds: readonly number[]): number {
  const shares = seeds.map(seed => {
    const { begun, good } = runScenario(scenario, { seed }).clients['application']!.perStep
    return mean(good.slice(405, 419)) / Math.max(mean(begun.slice(405, 419)), perSecond / 2)
  })
  return mean(shares)
}

function boundary(effort: Effort): Finding[] {
  const seeds = seedsOf(effort === 'quick' ? 1 : 5)
  const recovers = [100, 120, 140, 145].map(rate => {
    const ours = lateGoodput(stalledDatabase(rate), rate, seeds)
    return between(`${rate}/s: goodput in the end, of what is asked`, {
      from: 0.95,
      to: 1.1,
      ours,
      theirs: 1,
      unit: 'share',
    })
  })
  const stays = [155, 170, 280].map(rate => {
    const ours = lateGoodput(stalledDatabase(rate), rate, seeds)
    return between(`${rate}/s: goodput in the end, of what is asked`, {
      from: 0,
      to: 0.01,
      ours,
      theirs: 0,
      unit: 'share',
    })
  })
  const drain = seedsOf(effort === 'quick' ? 4 : 40).map(
    seed => runScenario(stalledDatabase(140), { seed }).recovery.recoveredAfterMs ?? Infinity,
  )
  const dropping = [140, 200, 260].map(rate => {
    const { recoveredAfterMs: ours } = runScenario(stalledDatabase(rate, true)).recovery
    return holds(`${rate}/s, expired work dropped`, {
      isSo: ours !== undefined && ours <= 80_000,
      theirs: 'recovers within 80 s',
      ours: ours === undefined ? 'never' : `after ${ours / 1_000} s`,
      measured: { unit: 'ms', ...(ours !== undefined && { ours }), most: 80_000 },
    })
  })
  return [
    ...recovers,
    ...stays,
    near('140/s: ms to recover', { theirs: 140_000, ours: mean(drain), within: 0.2, unit: 'ms' }),
    ...dropping,
  ]
}

export const metastability: readonly Reproduction[] = [
  {
    name: 'metastable',
    source: 'Bronson et al., Metastable Failures in Distributed Systems, HotOS 2021',
    inputs:
      '300/s served in order, Poisson arrivals, time-out 1 s, one more try at once, a stall of 10 s; 100 to 280/s',
    run: boundary,
  },
]
