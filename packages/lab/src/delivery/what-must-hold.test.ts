/** What the rule of credit promises, case by case: each figure must hold with every one of these seeds. */
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { DeliveryScenario } from './delivery.ts'
import { deliveryReadingOf, type DeliveryMeasure, type DeliveryReading } from './delivery-reading.ts'
import { AT_ONCE, downFor, every, HOUR, MINUTE, SECOND, tasks, world } from './delivery.test-kit.ts'
import { runDelivery } from './run-delivery.ts'

const SEEDS = [1, 2, 3, 4, 5]

/** Four quick attempts, for tasks that have no more than 20 s. */
const QUICK = { maxAttempts: 4, initialDelayMs: 50, maxDelayMs: 400, totalBudgetMs: 20_000, attemptTimeoutMs: 5_000 }

type Most = { readonly [measure in DeliveryMeasure]?: number }

/** Every figure that is larger than it must be, and every run that leaves a task; both with their seed. */
function broken(scenario: DeliveryScenario, most: Most, seeds: readonly number[] = SEEDS): readonly string[] {
  return seeds.flatMap(seed => brokenIn(deliveryReadingOf(runDelivery(scenario, { seed })), most, seed))
}

function brokenIn(reading: DeliveryReading, most: Most, seed: number): readonly string[] {
  const { deliveredShare, dead, waiting } = reading
  const measures = Object.entries(most) as [DeliveryMeasure, number][]
  return [
    ...(deliveredShare < 1 ? [`seed ${seed}: ${dead} tasks are dead and ${waiting} wait`] : []),
    ...measures
      .filter(([measure, limit]) => !((reading[measure] ?? Infinity) <= limit))
      .map(([measure, limit]) => `seed ${seed}: ${measure} is ${reading[measure]}, must be at most ${limit}`),
  ]
}

describe('the service delivers all', () => {
  it('of 350 tasks whose first attempt is answered 503 within 5 s', () => {
    const scenario = world([tasks(350, every(1), { failFirst: 1 })], {}, { policy: QUICK })
    assert.deepEqual(broken(scenario, { deliveredAllAtMs: 5 * SECOND }), [])
  })

  it('99 % of 1,000 tasks within 5 s of the end of an outage of 20 s, with 200 requests while it lasts', () => {
    const scenario = world([tasks(1_000, every(10))], downFor(20 * SECOND))
    assert.deepEqual(broken(scenario, { gone99AfterMs: 5 * SECOND, requestsWhileDown: 200 }), [])
  })

  it('the first within 1.5 s of the end of an outage of 3 s, and 99 % of 300 within 8 s', () => {
    const scenario = world([tasks(300, every(20))], downFor(3 * SECOND))
    assert.deepEqual(broken(scenario, { firstAfterMs: 1.5 * SECOND, delivered99AtMs: (3 + 8) * SECOND }), [])
  })

  it('the first within 3 s of the end when the destination hung for 20 s', () => {
    const hanging = { troubles: [{ kind: 'hanging' as const, fromMs: 0, untilMs: 20 * SECOND }] }
    assert.deepEqual(broken(world([tasks(3_000, every(20))], hanging), { firstAfterMs: 3 * SECOND }), [])
  })

  it('of 25 tasks that each fail twice within 12 s of the last arrival', () => {
    const scenario = world([tasks(25, every(200), { failFirst: 2 })])
    assert.deepEqual(broken(scenario, { goneAfterMs: 12 * SECOND }), [])
  })

  it('99 % of 1,000 tasks that come at once and each fail twice within 20 s', () => {
    const scenario = world([tasks(1_000, AT_ONCE, { failFirst: 2 })])
    assert.deepEqual(broken(scenario, { delivered99AtMs: 20 * SECOND }), [])
  })

  it('of 100,000 tasks after an hour, for 800 requests while the destination was dead', () => {
    const scenario = world([tasks(100_000, every(1))], downFor(HOUR), { durationMs: 2 * HOUR, stepMs: MINUTE })
    assert.deepEqual(broken(scenario, { requestsWhileDown: 800, goneAfterMs: 2 * MINUTE }, [1, 2]), [])
  })

  it('of 10 tasks within 10 min of the end of an outage of an hour', () => {
    const scenario = world([tasks(10, every(SECOND))], downFor(HOUR), { durationMs: 12 * HOUR })
    assert.deepEqual(broken(scenario, { goneAfterMs: 10 * MINUTE }), [])
  })

  it('good tasks beside 30 % that always fail no more than 1 s later than alone', () => {
    const good = tasks(2_100, { kind: 'constant', perSecond: 70 })
    const poison = tasks(900, { kind: 'constant', perSecond: 30 }, { name: 'poison', failFirst: 'all' })
    const late = (groups: DeliveryScenario['tasks'], seed: number): number =>
      deliveryReadingOf(runDelivery(world(groups, {}, { durationMs: MINUTE }), { seed })).p99LateMs ?? Infinity
    for (const seed of SEEDS) assert.ok(late([good, poison], seed) - late([good], seed) <= 1 * SECOND, `seed ${seed}`)
  })

  describe('good tasks, one a minute, beside 200 that always fail', () => {
    const beside = (failFirst: number): DeliveryScenario => {
      const poison = tasks(200, AT_ONCE, { name: 'poison', failFirst: 'all' })
      const good = tasks(360, every(MINUTE, MINUTE), { name: 'good', failFirst })
      return world([poison, good], {}, { durationMs: 8 * HOUR })
    }

    it('99 % within a minute', () => {
      assert.deepEqual(broken(beside(0), { p99LateMs: MINUTE }), [])
    })

    it('half of them within 10 s where each fails once', () => {
      assert.deepEqual(broken(beside(1), { p50LateMs: 10 * SECOND }), [])
    })
  })

  it('99 % of the tasks with a deadline of 5 s that an outage of 30 s leaves time for', () => {
    const policy = { initialDelayMs: 200, maxDelayMs: 1_250, totalBudgetMs: 5_000, attemptTimeoutMs: 5_000 }
    // A task that arrives within 3 s of the return has two seconds left.
    const groups = [
      tasks(950, every(20), { name: 'before' }),
      tasks(1_400, every(20, 19 * SECOND), { name: 'doomed' }),
      tasks(3_000, every(20, 47 * SECOND), { name: 'after' }),
    ]
    const outage = { ...downFor(50 * SECOND, 20 * SECOND), latencyMs: 200 }
    for (const seed of SEEDS) {
      const { before, after } = runDelivery(world(groups, outage, { policy }), { seed }).groups
      const delivered = (before?.delivered ?? 0) + (after?.delivered ?? 0)
      assert.ok(delivered >= 0.99 * (950 + 3_000), `seed ${seed}: ${delivered}`)
    }
  })

  it('through a lane with a limit of 1 as fast as the destination answers', () => {
    const scenario = world([tasks(600, every(50))], {}, { lane: { limit: 1 } })
    assert.deepEqual(broken(scenario, { longestLateMs: 20 }), [])
  })

  it('of twice what the destination serves, 99 % within 2.2 times the ideal, for 4 failed attempts a task', () => {
    const flood = tasks(6_000, { kind: 'constant', perSecond: 100 })
    // It answers later than it serves the next request. One that answers sooner takes up to five times the ideal: the
    // credit of an answer is spent while there is no room again, and then only probes find out that there is.
    const latencyMs = { kind: 'log-normal', medianMs: 50, p99Ms: 200 } as const
    const destination = { latencyMs, limit: { perSecond: 50, burst: 5 } }
    // The last one may have failed so often that its own back-off is an hour.
    const scenario = world([flood], destination, { durationMs: 6 * HOUR })
    assert.deepEqual(broken(scenario, { delivered99AtMs: 2.2 * 119 * SECOND, failedPerTask: 4 }), [])
  })

  it('of twice what the destination serves soon after its rate allows, where it answers the others 429', () => {
    const flood = tasks(1_200, { kind: 'constant', perSecond: 20 })
    // A wait of a second is meant for a second's worth of requests.
    for (const more of [{ burst: 2 }, { burst: 10, retryAfterMs: 1_000 }]) {
      const limit = { perSecond: 10, status: 429 as const, ...more }
      const scenario = world([flood], { latencyMs: 20, errorMs: 5, limit }, { durationMs: HOUR })
      assert.deepEqual(broken(scenario, { delivered99AtMs: 2.2 * 120 * SECOND, failedPerTask: 1 }), [])
    }
  })

  it('of 300 tasks within 20 s, when the service is killed after 100 ms', () => {
    const restarts = [{ atMs: 100 }]
    const scenario = world([tasks(300, every(1), { failFirst: 1 })], {}, { policy: QUICK, restarts })
    assert.deepEqual(broken(scenario, { deliveredAllAtMs: (1.1 + 20) * SECOND }), [])
  })
})
