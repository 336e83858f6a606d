/**
 * The library over real sockets and in real time, beside its simulation: the one test here that takes as long as the
 * world that it describes, twenty seconds.
 */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'vitest'
import { runScenario } from '../run-scenario.ts'
import type { LiveWorld } from './live-world.test-kit.ts'
import { runLive, sharesOf, type LiveRun, type Seen } from './run-live.test-kit.ts'

const WORLD: LiveWorld = {
  seconds: 20,
  // Enough that chance stays below two hundredths of any second's calls.
  callsPerSecond: 300,
  policy: {
    name: 'live',
    retry: { maxAttempts: 4, initialDelayMs: 200, maxDelayMs: 2_000, attemptTimeoutMs: 2_000 },
    budget: { kind: 'ratio', ratio: 1.5, windowMs: 5_000, minRetries: 10 },
  },
  serviceMs: 20,
  // Not with a second, nor with a slice of the budget's window: a call a moment late is not to be counted elsewhere.
  outage: { fromMs: 7_400, untilMs: 14_400 },
}
const SEEDS = 10
const CALLS_TOLERANCE = 0.1
const OUTCOMES_TOLERANCE = 0.02
/** A second with less of it than this was another second than the one that is simulated: what it holds says nothing. */
const MOST_STALLED_MS = 1_000 * CALLS_TOLERANCE
const MOST_RUNS = 6

/** The mean over seeds. */
function simulated({ seconds, callsPerSecond, policy, serviceMs, outage }: LiveWorld): Seen {
  const runs = Array.from({ length: SEEDS }, (_, seed): Seen => {
    const { clients, dependencies } = runScenario(
      {
        name: 'live',
        durationMs: seconds * 1_000,
        clients: [
          {
            name: 'clients',
            calls: 'server',
            pipeline: 'live',
            arrivals: { kind: 'constant', perSecond: callsPerSecond },
          },
        ],
        pipelines: { live: policy },
        dependencies: { server: { serviceMs, troubles: [{ ...outage, errorRate: 1, errorMs: 1 }] } },
      },
      { seed },
    )
    const { first, retries } = dependencies['server']!.perStep
    const { succeeded, reasons } = clients['clients']!
    return {
      perSecond: first.slice(0, seconds).map((count, second) => count + retries[second]!),
      outcomeShares: sharesOf({ succeeded, ...reasons }),
    }
  })
  const mean = (of: (run: Seen) => number): number => runs.reduce((sum, run) => sum + of(run), 0) / runs.length
  return {
    perSecond: runs[0]!.perSecond.map((_, second) => mean(run => run.perSecond[second]!)),
    outcomeShares: Object.fromEntries(
      Object.keys(runs[0]!.outcomeShares).map(outcome => [outcome, mean(run => run.outcomeShares[outcome] ?? 0)]),
    ),
  }
}

/**
 * One in which the machine was there all the time. Others are run again, and never judged by half: on a machine that
 * stands still in each of them nothing can be said, and that is what is said.
 */
async function undisturbed(world: LiveWorld, { skip }: TestContext): Promise<LiveRun> {
  const stalledMs: number[] = []
  while (stalledMs.length < MOST_RUNS) {
    const run = await runLive(world)
    if (run.mostStalledMs <= MOST_STALLED_MS) return run
    stalledMs.push(Math.round(run.mostStalledMs))
  }
  return skip(`the machine stood still in every run, in one second for so many ms: ${stalledMs.join(', ')}`)
}

describe('simulated and live agree (20 s of real time)', () => {
  it(
    'on the calls of every second to within a tenth, and on every outcome to within two points',
    { timeout: MOST_RUNS * 30_000 },
    async context => {
      const ours = simulated(WORLD)
      const theirs = await undisturbed(WORLD, context)
      const difference = `simulated ${JSON.stringify(ours)}, live ${JSON.stringify(theirs)}`
      for (const [second, calls] of ours.perSecond.entries())
        assert.ok(
          Math.abs(theirs.perSecond[second]! - calls) <= CALLS_TOLERANCE * calls,
          `calls of second ${second}: ${difference}`,
        )
      assert.deepEqual(Object.keys(theirs.outcomeShares).toSorted(), Object.keys(ours.outcomeShares).toSorted())
      for (const [outcome, share] of Object.entries(ours.outcomeShares))
        assert.ok(
          Math.abs(theirs.outcomeShares[outcome]! - share) <= OUTCOMES_TOLERANCE,
          `operations with ${outcome}: ${difference}`,
        )
    },
  )
})
