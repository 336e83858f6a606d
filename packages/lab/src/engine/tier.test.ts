import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { runScenario } from '../run-scenario.ts'
import type { Dependency, Scenario } from '../scenario/scenario.ts'

function chain(root: Partial<Dependency>, leaf: Partial<Dependency>, more: Partial<Scenario> = {}): Scenario {
  return {
    name: 'chain',
    durationMs: 10_000,
    clients: [{ name: 'clients', calls: 'root', pipeline: 'edge', arrivals: { kind: 'constant', perSecond: 10 } }],
    pipelines: { edge: { maxAttempts: 1, attemptTimeoutMs: 1_000, totalBudgetMs: 1_000 } },
    dependencies: { root: { serviceMs: 5, ...root }, leaf: { serviceMs: 10, ...leaf } },
    ...more,
  }
}

/** Half a second of patience at the edge, and ten tries below. */
const STUBBORN = {
  edge: { maxAttempts: 1, attemptTimeoutMs: 500, totalBudgetMs: 500 },
  below: {
    name: 'below',
    retry: { maxAttempts: 10, initialDelayMs: 200, jitterType: 'NONE', backoffType: 'FIXED' },
    budget: false,
  },
} as const

describe('a tier', () => {
  it('answers when all that it calls have answered, one after another or all at once', () => {
    const p50 = (downstreamOrder: 'sequential' | 'parallel'): number =>
      runScenario(chain({ downstream: [{ calls: 'leaf', times: 3 }], downstreamOrder }, {})).clients['clients']!.latency
        .meanMs
    assert.ok(Math.abs(p50('sequential') - 35) < 0.001)
    assert.ok(Math.abs(p50('parallel') - 15) < 0.001)
  })

  it('that calls one after another stops at the first failure', () => {
    const { clients, dependencies } = runScenario(
      chain({ downstream: [{ calls: 'leaf', times: 3 }] }, { errorRate: 1 }),
    )
    assert.equal(dependencies['leaf']!.calls, clients['clients']!.operations)
    assert.equal(clients['clients']!.succeeded, 0)
  })

  it('is amplified by every tier above it', () => {
    const tries = (maxAttempts: number) =>
      ({ name: 'tries', retry: { maxAttempts, initialDelayMs: 1 }, budget: false }) as const
    const pipelines = { edge: tries(3), below: tries(2) }
    const { dependencies, tiers } = runScenario(
      chain({ downstream: [{ calls: 'leaf', pipeline: 'below' }] }, { errorRate: 1 }, { pipelines }),
    )
    assert.deepEqual([dependencies['root']!.amplification, dependencies['leaf']!.amplification], [3, 6])
    assert.equal(tiers['root → leaf']!.attemptsPerOperation, 2)
  })

  it('does not go on after its caller’s deadline if it was passed on', () => {
    const calls = (passesDeadline: boolean): number =>
      runScenario(
        chain(
          { downstream: [{ calls: 'leaf', pipeline: 'below', passesDeadline }] },
          { errorRate: 1 },
          { pipelines: STUBBORN },
        ),
      ).dependencies['leaf']!.amplification
    assert.equal(calls(false), 10)
    assert.equal(calls(true), 3)
  })

  it('that cancels makes no further calls for a caller that has gone', () => {
    const { dependencies, tiers } = runScenario(
      chain(
        { cancels: true, downstream: [{ calls: 'leaf', pipeline: 'below' }] },
        { errorRate: 1 },
        { pipelines: STUBBORN },
      ),
    )
    assert.equal(dependencies['leaf']!.amplification, 3)
    assert.deepEqual(Object.keys(tiers['root → leaf']!.reasons), ['aborted'])
  })

  it('tells a client that recovers apart from one that stays down', () => {
    const stall = { servers: 1, serviceMs: 20, troubles: [{ fromMs: 10_000, untilMs: 15_000, capacity: 0 }] }
    const world = (maxAttempts: number): Scenario => ({
      ...chain({ downstream: [{ calls: 'leaf' }] }, stall),
      durationMs: 120_000,
      drainMs: 0,
      clients: [{ name: 'clients', calls: 'root', pipeline: 'edge', arrivals: { kind: 'poisson', perSecond: 30 } }],
      pipelines: {
        edge: { name: 'edge', retry: { maxAttempts, initialDelayMs: 1, attemptTimeoutMs: 500 }, budget: false },
      },
    })
    assert.equal(runScenario(world(1)).recovery.isMetastable, false)
    assert.equal(runScenario(world(4)).recovery.isMetastable, true)
  })
})
