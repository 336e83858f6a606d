import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { runSmall, smallWorld } from '../run-scenario.test-kit.ts'
import { runWorld } from './run-world.ts'

const FAILING = { serviceMs: 1, errorRate: 1 }
const retry = { maxAttempts: 3, initialDelayMs: 100, backoffType: 'FIXED', jitterType: 'NONE' } as const

describe('an operation', () => {
  it('is not retried while a kill switch says so, and again when it has expired', () => {
    const { server } = runSmall({
      policy: { name: 'p', retry, budget: false },
      server: FAILING,
      more: { killOrders: [{ atMs: 3_000, untilMs: 6_000, level: 'retries-off' }] },
    })
    const retries = server.perStep.retries
    assert.deepEqual([retries[4], retries[5]], [0, 0])
    assert.ok(retries[1]! > 15 && retries[8]! > 15)
  })

  it('is not even begun when a kill switch says so, for the pipeline that it names', () => {
    const killed = (pipeline?: string): number =>
      runSmall({
        policy: { name: 'p', retry },
        more: {
          pipelines: { policy: retry, other: retry },
          killOrders: [{ atMs: 0, level: 'fail-fast', ...(pipeline && { pipeline }) }],
        },
      }).server.calls
    assert.deepEqual([killed(), killed('policy')], [0, 0])
    assert.ok(killed('other') > 90)
  })

  it('gives up on what the library would give up on', () => {
    const reasonsOf = (policy: object, server: object = FAILING): readonly string[] =>
      Object.keys(runSmall({ policy: { name: 'p', retry, budget: false, ...policy }, server }).clients.reasons)
    assert.deepEqual(reasonsOf({}), ['attempts'])
    assert.deepEqual(reasonsOf({ retry: { ...retry, totalBudgetMs: 150 } }), ['deadline'])
    assert.deepEqual(reasonsOf({ budget: { kind: 'rate', perSecond: 0.001, burst: 1 } }), ['budget'])
    assert.deepEqual(reasonsOf({}, { servers: 1, serviceMs: 5_000, queue: { maxLength: 0 }, retryAfterMs: 60_000 }), [
      'retry-after-too-long',
    ])
  })

  it('learns its time-out if it is told to', () => {
    const adaptiveTimeout = { multiplier: 2, percentile: 99, minMs: 20, sampleCalls: 100, minSamples: 20 }
    const p99 = (learned: boolean): number =>
      runSmall({
        durationMs: 20_000,
        group: learned ? { adaptiveTimeout } : {},
        policy: { name: 'p', retry: { ...retry, initialDelayMs: 1 }, budget: false },
        server: {
          serviceMs: { kind: 'bimodal', fast: 10, slow: 2_000, slowShare: 0 },
          troubles: [{ fromMs: 10_000, untilMs: 20_000, errorRate: 0.05, errorMs: 2_000 }],
        },
      }).clients.latency.p99Ms
    assert.ok(p99(false) > 1_500, `${p99(false)}`)
    assert.ok(p99(true) < 500, `${p99(true)}`)
  })

  it('that took too long counts as failed when it ends, for clients that do not interrupt', () => {
    const { clients } = runSmall({ group: { lateMs: 5 }, policy: { maxAttempts: 1 } })
    assert.equal(clients.succeeded, 0)
  })

  it('leaves nothing behind: rows are handed out again', () => {
    const world = smallWorld({
      durationMs: 100_000,
      group: { arrivals: { kind: 'poisson', perSecond: 100 }, network: { delayMs: 5, loss: 0.01 } },
      policy: {
        name: 'p',
        retry: { ...retry, attemptTimeoutMs: 300 },
        hedge: { delayMs: 50 },
        bulkhead: { limit: 30 },
      },
      server: { servers: 10, serviceMs: { kind: 'exponential', meanMs: 40 }, errorRate: 0.1 },
    })
    const { core } = runWorld(world, { seed: 1 }).world
    assert.deepEqual([core.operations.used, core.calls.used, core.agenda.size], [0, 0, 0])
    assert.ok(core.operations.rowsEver < 200, `${core.operations.rowsEver} operations at once`)
    assert.ok(core.permits.every(permit => permit === undefined) && core.states.every(state => state === undefined))
  })
})
