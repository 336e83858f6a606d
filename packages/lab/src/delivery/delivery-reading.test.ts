import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { deliveryFactsOf, deliveryVerdictOf, type DeliveryTrial } from './delivery-facts.ts'
import { checkDeliveryLimits } from './delivery-limits.ts'
import { deliveriesOf, latenessOf } from './delivery-pictures.ts'
import { deliveryReadingOf, deliverySpreads, type DeliveryReading } from './delivery-reading.ts'
import { AT_ONCE, downFor, every, SECOND, tasks, world } from './delivery.test-kit.ts'
import type { DeliveryScenario } from './delivery.ts'
import { deliveriesOverSeeds } from './over-seeds.ts'
import { runDelivery } from './run-delivery.ts'

const OUTAGE = world([tasks(200, every(50))], downFor(5 * SECOND))

const reading = (more: Partial<DeliveryReading>): DeliveryReading => ({
  tasks: 10,
  deliveredShare: 1,
  dead: 0,
  unsent: 0,
  waiting: 0,
  requests: 10,
  failedPerTask: 0,
  ...more,
})

function trial(scenario: DeliveryScenario): DeliveryTrial {
  const middle = runDelivery(scenario)
  return { readings: [deliveryReadingOf(middle)], middle, seed: 1 }
}

describe('a reading of a delivery', () => {
  it('counts from the end of the last trouble, or from the last arrival where there is none', () => {
    const { gone99AfterMs, goneAfterMs, firstAfterMs } = deliveryReadingOf(runDelivery(OUTAGE))
    assert.ok((firstAfterMs ?? Infinity) <= 1_500)
    assert.ok((gone99AfterMs ?? Infinity) <= (goneAfterMs ?? 0))
    const calm = deliveryReadingOf(runDelivery(world([tasks(2, every(1_000))], { latencyMs: 30 })))
    assert.deepEqual([calm.firstAfterMs, calm.goneAfterMs, calm.deliveredAllAtMs], [undefined, 30, 1_030])
    assert.equal(calm.requestsWhileDown, undefined)
  })

  it('leaves out the tasks that can never be delivered', () => {
    const poison = tasks(5, AT_ONCE, { name: 'poison', failFirst: 'all' })
    const beside = deliveryReadingOf(
      runDelivery(world([tasks(10, AT_ONCE), poison], {}, { policy: { maxAttempts: 2 } })),
    )
    assert.deepEqual([beside.tasks, beside.deliveredShare, beside.dead, beside.requests], [10, 1, 0, 10])
  })
})

describe('a delivery over several seeds', () => {
  it('has the range of every measure, and the readings that it is made of', () => {
    const { readings, spreads } = deliveriesOverSeeds(OUTAGE, { runs: 5, seed: 3 })
    assert.equal(readings.length, 5)
    assert.deepEqual(readings[0], deliveryReadingOf(runDelivery(OUTAGE, { seed: 3 })))
    const counts = readings.map(({ requestsWhileDown }) => requestsWhileDown ?? 0)
    const { requestsWhileDown } = spreads
    assert.deepEqual([requestsWhileDown?.least, requestsWhileDown?.most], [Math.min(...counts), Math.max(...counts)])
    assert.ok(Math.min(...counts) < Math.max(...counts))
  })

  it('leaves out a measure that one of the runs does not have', () => {
    const spreads = deliverySpreads([reading({ goneAfterMs: 5 }), reading({})])
    assert.deepEqual([spreads.goneAfterMs, spreads.requests?.mean], [undefined, 10])
  })
})

describe('limits of a delivery', () => {
  const holds = (limits: Parameters<typeof checkDeliveryLimits>[1], ...of: readonly DeliveryReading[]): unknown[] =>
    checkDeliveryLimits(of, limits).map(({ holds, say }) => [holds, say])

  it('are held against the mean of all runs', () => {
    const runs = [reading({ requestsWhileDown: 100 }), reading({ requestsWhileDown: 200 })]
    assert.deepEqual(holds({ maxWhileDown: 150 }, ...runs), [[true, '150, asked for at most 150']])
    assert.deepEqual(holds({ maxWhileDown: 149 }, ...runs), [[false, '150, asked for at most 149']])
    assert.deepEqual(holds({ minDeliveredShare: 0.9 }, reading({ deliveredShare: 0.8 })), [
      [false, '80 %, asked for at least 90 %'],
    ])
  })

  it('do not hold where there is nothing to measure, and say why', () => {
    assert.deepEqual(holds({ maxRecoveryMs: 5_000, maxWhileDown: 5, maxP99Ms: 1_000 }, reading({})), [
      [false, 'missing: 99 in 100 tasks were never delivered, asked for at most 5 s'],
      [false, 'missing: the destination is never down, asked for at most 5'],
      [false, 'missing: no task was delivered, asked for at most 1 s'],
    ])
  })
})

describe('facts and verdict of a delivery', () => {
  it('are good when no task dies, bad when some do, and name the reasons', () => {
    assert.match(
      deliveryVerdictOf(trial(OUTAGE)).say,
      /^No task dies; the backlog is gone .* after the return of the destination\.$/,
    )
    const dying = deliveryVerdictOf(trial({ ...OUTAGE, policy: { maxAttempts: 1 } }))
    assert.equal(dying.kind, 'bad')
    assert.match(dying.say, /% of the tasks are delivered; \d+ die: \d+ by attempts\.$/)
    assert.equal(deliveryVerdictOf(trial({ ...OUTAGE, durationMs: 5_000 })).kind, 'neither')
    const poison = world([tasks(5, AT_ONCE, { failFirst: 'all' })], {}, { policy: { maxAttempts: 1 } })
    assert.match(deliveryVerdictOf(trial(poison)).say, /^No task arrived that could ever be delivered/)
  })

  it('name each group where there are several, and the range where there are several seeds', () => {
    const groups = [tasks(10, AT_ONCE, { name: 'good' }), tasks(3, AT_ONCE, { name: 'bad', failFirst: 'all' })]
    const facts = deliveryFactsOf(trial(world(groups, {}, { policy: { maxAttempts: 2 } })))
    const of = (name: string): unknown => facts.find(fact => fact.name === name)?.value
    assert.deepEqual([of('good'), of('bad')], ['10 of 10 delivered', '0 of 3 delivered'])
    const middle = runDelivery(OUTAGE)
    const readings = [reading({ requestsWhileDown: 5 }), reading({ requestsWhileDown: 15 })]
    const ranged = deliveryFactsOf({ readings, middle, seed: 1 })
    assert.equal(ranged.find(({ name }) => name === 'requests while down')?.value, '10 (5 to 15)')
  })
})

describe('pictures of a delivery', () => {
  it('shade the troubles of the destination and the restarts of the service', () => {
    const restarted = { ...OUTAGE, restarts: [{ atMs: 1_000, downMs: 500 }, { atMs: 3_000 }] }
    const picture = deliveriesOf(runDelivery(restarted), restarted)
    assert.deepEqual(picture.spans, [
      { name: 'down', fromMs: 0, untilMs: 5_000 },
      { name: 'restart', fromMs: 1_000, untilMs: 1_500 },
      { name: 'restart', fromMs: 3_000, untilMs: 4_000 },
    ])
    assert.equal(picture.waiting.at(-1), 0)
    assert.ok(Math.max(...picture.waiting) >= 90)
  })

  it('have a line for each group that was delivered, up to its share', () => {
    const groups = [tasks(10, AT_ONCE, { name: 'good' }), tasks(3, AT_ONCE, { name: 'bad', failFirst: 'all' })]
    const { series } = latenessOf(runDelivery(world(groups, {}, { policy: { maxAttempts: 2 } })))
    assert.deepEqual(
      series.map(({ name, points }) => [name, points.at(-1)?.share]),
      [['good', 1]],
    )
  })
})
