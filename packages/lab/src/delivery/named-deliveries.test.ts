import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { presets } from '@secondwind/resilience'
import { checkDelivery } from './check-delivery.ts'
import { DEFAULT_DELIVERY_POLICY } from './delivery.ts'
import { deliveryReadingOf, type DeliveryReading } from './delivery-reading.ts'
import { DELIVERIES } from './named-deliveries.ts'
import { runDelivery } from './run-delivery.ts'

function readingOf(name: string): DeliveryReading {
  const scenario = DELIVERIES[name]
  assert.ok(scenario !== undefined, name)
  return deliveryReadingOf(runDelivery(scenario))
}

describe('named deliveries', () => {
  it('are right, and plain JSON', () => {
    for (const [name, scenario] of Object.entries(DELIVERIES)) {
      assert.deepEqual(checkDelivery(JSON.parse(JSON.stringify(scenario))), { delivery: scenario })
      assert.equal(scenario.name, name)
    }
  })

  it('go by the default policy of the service, with 50 attempts', () => {
    const { policyId: _, ...own } = presets.service.retry
    assert.deepEqual(DEFAULT_DELIVERY_POLICY, { ...own, maxAttempts: 50 })
  })

  it('show what they say', () => {
    const [outage, hanging, poison, limited] = ['outage', 'hanging', 'poison', 'limited'].map(name =>
      readingOf(`delivery-${name}`),
    )
    assert.ok((outage?.requestsWhileDown ?? Infinity) < 200 && (outage?.gone99AfterMs ?? Infinity) < 5_000)
    assert.ok((hanging?.firstAfterMs ?? Infinity) < 3_000)
    assert.ok((poison?.p99LateMs ?? Infinity) < 1_000)
    assert.ok((limited?.failedPerTask ?? 0) > 1)
    assert.equal(readingOf('delivery-restart').deliveredShare, 1)
    const flaky = readingOf('delivery-flaky')
    assert.deepEqual([flaky.failedPerTask, flaky.deliveredShare], [2, 1])
  })

  it('with a limit are better off with a rate in the lane', () => {
    const scenario = DELIVERIES['delivery-limited']
    assert.ok(scenario !== undefined)
    const kept = deliveryReadingOf(runDelivery({ ...scenario, lane: { rateLimit: { perSecond: 50 } } }))
    assert.ok(kept.failedPerTask < 0.1)
    assert.ok((kept.delivered99AtMs ?? Infinity) < (readingOf('delivery-limited').delivered99AtMs ?? 0))
  })
})
