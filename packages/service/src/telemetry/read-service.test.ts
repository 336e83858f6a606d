import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { World } from '../dispatch/simulation/world.test-kit.ts'
import { Backlog } from '../intake/backlog.ts'
import { laneKey } from '../task/lane.ts'
import { createServiceMetrics } from './metrics.ts'
import { readService } from './read-service.ts'

const ORIGIN = 'https://api.example'

/** All samples of a destination's metrics, as `name{labels} value`. */
function samplesOf(text: string): string[] {
  return text.split('\n').filter(line => line.startsWith('retry_destination_') && line.includes(`"${ORIGIN}"`))
}

describe('a destination that has had no traffic for minutes', () => {
  it('has the gauges of its limits and orders, and not 0', async () => {
    const world = new World()
    const { dispatcher } = world.start()
    await world.clock.advance(20_000)
    await world.enqueue()
    const [since, by] = [world.clock.now(), 'local']
    const budget = { kind: 'rate', perSecond: 5, burst: 5 }
    await world.order('destination', laneKey({ tenant: 'acme', destination: ORIGIN }), {
      limits: { concurrency: 7, credit: { most: { first: 5 } }, budget },
      limitsBy: { since, by },
      forced: { since, by, breaker: 'open' },
    })
    const lag = { takeLongestMs: () => 0, stop: () => undefined }
    const backlog = new Backlog({ perLane: Infinity, total: Infinity })
    const read = () => readService({ store: world.store, backlog, dispatcher, lag })
    const metrics = createServiceMetrics({ read })
    const gaugesAfter = async (ms: number): Promise<readonly string[]> => {
      await world.clock.advance(ms)
      return samplesOf((await metrics.scrape()).text)
    }
    const atFirst = await gaugesAfter(2_000)
    const idle = await gaugesAfter(600_000)
    assert.deepEqual(idle, atFirst)
    for (const line of [
      `retry_destination_limit{destination="${ORIGIN}"} 7`,
      `retry_destination_credit{destination="${ORIGIN}",kind="first"} 5`,
      `retry_destination_credit{destination="${ORIGIN}",kind="retry"} 60`,
      `retry_destination_budget_balance{destination="${ORIGIN}"} 5`,
      `retry_destination_breaker_state{destination="${ORIGIN}",state="forced-open"} 1`,
    ])
      assert.ok(idle.includes(line), line)
  })
})
