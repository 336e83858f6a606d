import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { runScenario } from './run-scenario.ts'
import { runSmall, smallWorld } from './run-scenario.test-kit.ts'
import type { Distribution } from './scenario/distribution.ts'

const FIXED = { backoffType: 'FIXED', jitterType: 'NONE', initialDelayMs: 100 } as const
const exponential = (meanMs: number): Distribution => ({ kind: 'exponential', meanMs })

describe('a run', () => {
  it('is the same for the same scenario and seed, for ever', () => {
    const world = smallWorld({
      group: {
        arrivals: { kind: 'poisson', perSecond: 50 },
        count: 3,
        network: { delayMs: exponential(5), loss: 0.01 },
      },
      policy: { name: 'all', retry: { maxAttempts: 4, attemptTimeoutMs: 500 }, breaker: {}, hedge: {}, throttle: {} },
      server: {
        servers: 2,
        serviceMs: exponential(30),
        errorRate: 0.1,
        troubles: [{ fromMs: 3_000, untilMs: 4_000, capacity: 0 }],
      },
    })
    const once = JSON.stringify(runScenario(world, { seed: 5 }))
    assert.equal(JSON.stringify(runScenario(world, { seed: 5 })), once)
    assert.notEqual(JSON.stringify(runScenario(world, { seed: 6 })), once)
    const { clients, dependencies } = runScenario(world, { seed: 5 })
    const { operations, succeeded, latency } = clients['clients']!
    const { calls, hedges } = dependencies['server']!
    assert.deepEqual([operations, succeeded, calls, hedges, latency.meanMs], GOLDEN)
  })

  it('has the same arrivals whatever the policy is', () => {
    const begun = (maxAttempts: number): readonly number[] =>
      runSmall({
        group: { arrivals: { kind: 'poisson', perSecond: 20 } },
        policy: { maxAttempts },
        server: { errorRate: 0.5 },
      }).clients.perStep.begun.slice(0, 10)
    assert.deepEqual(begun(1), begun(5))
  })

  it('loses nothing: every operation ends well or with a reason, and Little’s law holds', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 60 }),
        fc.nat(1_000),
        (servers, meanMs, seed) => {
          const { clients, server } = runSmall(
            {
              group: { arrivals: { kind: 'poisson', perSecond: 30 } },
              policy: { maxAttempts: 3, attemptTimeoutMs: 200, ...FIXED },
              server: { servers, serviceMs: exponential(meanMs), errorRate: 0.1 },
            },
            { seed },
          )
          const given = Object.values(clients.reasons).reduce((sum, count) => sum + count, 0)
          assert.equal(clients.succeeded + given, clients.operations)
          assert.equal(server.calls, Math.round(clients.attemptsPerOperation * clients.operations))
        },
      ),
      { seed: 11, numRuns: 25 },
    )
    const { clients, server } = runSmall({
      durationMs: 1_000_000,
      group: { arrivals: { kind: 'poisson', perSecond: 50 } },
      server: { servers: 1, serviceMs: exponential(10) },
    })
    const inService = server.workMs / 1_000_000
    assert.ok(Math.abs(inService - (clients.operations / 1_000_000) * 10) < 0.02, `${inService} at work`)
  })
})

/** Operations, successes, calls, hedges, mean: written down once; a change here changes every published figure. */
const GOLDEN = [507, 155, 589, 13, 121.91073194811274]

describe('clients', () => {
  it('call at a constant rate, or by a recorded trace', () => {
    assert.deepEqual(runSmall({}).clients.perStep.begun.slice(0, 3), [9, 10, 10])
    const traced = runSmall({ group: { arrivals: { kind: 'trace', atMs: [5, 1_500, 1_501] } } })
    assert.deepEqual(traced.clients.perStep.begun, [1, 2])
  })

  it('by a ramp or a spike come as often as its area says', () => {
    const points = [
      { atMs: 0, perSecond: 0 },
      { atMs: 10_000, perSecond: 100 },
    ]
    const ramp = runSmall({ group: { arrivals: { kind: 'ramp', points, even: true } } })
    // An arrival at the very end of a step may fall to either side of it.
    for (const [step, count] of ramp.clients.perStep.begun.slice(0, 10).entries())
      assert.ok(Math.abs(count - (5 + 10 * step)) <= 1)
    const spike = {
      kind: 'spike',
      perSecond: 10,
      peakPerSecond: 110,
      fromMs: 2_000,
      untilMs: 3_000,
      even: true,
    } as const
    const counts = runSmall({ group: { arrivals: spike } }).clients.perStep.begun.slice(0, 5)
    for (const [step, count] of counts.entries()) assert.ok(Math.abs(count - (step === 2 ? 110 : 10)) <= 1)
  })

  it('that are closed have one call each under way', () => {
    const { clients, server } = runSmall({
      group: { count: 4, arrivals: { kind: 'closed', thinkMs: 0 } },
      server: { servers: 1, serviceMs: 100 },
    })
    assert.equal(clients.operations, 100 + 3)
    assert.equal(server.longestQueue, 3)
  })

  it('that call together are a herd, and each calls once', () => {
    const { server } = runSmall({ group: { count: 50, arrivals: { kind: 'together', atMs: 1_000 } } })
    assert.deepEqual(server.perStep.first, [0, 50])
  })

  it('wait as their policy says', () => {
    const { server } = runSmall({
      group: { arrivals: { kind: 'trace', atMs: [0] } },
      policy: { maxAttempts: 4, backoffType: 'EXPONENTIAL', initialDelayMs: 1_000, jitterType: 'NONE' },
      server: { serviceMs: 0, errorRate: 1 },
    })
    assert.deepEqual(server.perStep.retries, [0, 1, 0, 1, 0, 0, 0, 1])
  })
})
