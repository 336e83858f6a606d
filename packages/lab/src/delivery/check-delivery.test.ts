import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { InvalidScenarioError } from '../run-scenario.ts'
import { checkDelivery } from './check-delivery.ts'
import type { DeliveryScenario } from './delivery.ts'
import { AT_ONCE, tasks, world } from './delivery.test-kit.ts'
import { runDelivery } from './run-delivery.ts'

const RIGHT = world([tasks(10, AT_ONCE)])

const say = (input: unknown): string[] => (checkDelivery(input).problems ?? []).map(({ at, say }) => `${at} ${say}`)

describe('a delivery scenario', () => {
  it('that is right is handed back as it is', () => assert.deepEqual(checkDelivery(RIGHT), { delivery: RIGHT }))

  it('has all of its problems reported at once, those of policy and lane too, with a suggestion', () => {
    const wrong = {
      kind: 'delivery',
      name: 'wrong',
      duration: 5,
      tasks: [{ name: 'a', count: 0, arrivals: { kind: 'constnt', perSecond: 1 }, failFirst: 'some', failures: 1 }],
      policy: { maxAtempts: 3 },
      lane: { limits: 5, credit: { most: { frist: 1 } } },
      destination: { latencyMs: -1, limit: { perSecond: 5, status: 500 }, troubels: [] },
      restarts: [{ atMs: 'soon' }],
    }
    assert.deepEqual(say(wrong), [
      'durationMs must be given',
      'duration is an unknown field; did you mean durationMs?',
      'tasks.0.count must be a whole number from 1 to 1000000',
      'tasks.0.arrivals.kind must be one of constant, poisson, together; did you mean constant?',
      'tasks.0.failFirst must be a whole number from 0 to 10000, or all',
      'tasks.0.failures is an unknown field; did you mean failFirst?',
      'destination.latencyMs must be milliseconds from 0 to 315576000000, ten years',
      'destination.limit.status must be 429 or 503',
      'destination.troubels is an unknown field; did you mean troubles?',
      'restarts.0.atMs must be milliseconds from 0 to 315576000000, ten years',
      'policy.maxAtempts is an unknown field; did you mean maxAttempts?',
      'lane.limits is an unknown field; did you mean limit?',
      'lane.credit.most.frist is an unknown field; did you mean first?',
    ])
  })

  it('has names, times and sizes reported that do not fit together', () => {
    const trouble = { kind: 'down', fromMs: 10, untilMs: 10 } as const
    const restarts = [{ atMs: 10, downMs: 100 }, { atMs: 110 }, { atMs: 1_111 }]
    const groups = [tasks(600_000, AT_ONCE), tasks(600_000, AT_ONCE)]
    assert.deepEqual(say(world(groups, { troubles: [trouble] }, { restarts, durationMs: 1e9, stepMs: 1 })), [
      'tasks.1.name is there twice',
      'destination.troubles.0.untilMs must be later than fromMs, 10',
      'restarts.1.atMs must be later than the end of the restart before, 110',
      'tasks must be at most 1000000 tasks together',
      'stepMs must be longer: at most 1000000 steps fit into durationMs',
    ])
  })

  it('of another kind is refused', () => {
    for (const input of [null, 5, 'delivery', []]) assert.ok(say(input).length > 0)
    assert.deepEqual(say({ ...RIGHT, kind: 'delivry' }), ['kind must be one of delivery'])
  })

  it('with a problem is not run, nor with a seed that is none', () => {
    const refused = (scenario: DeliveryScenario, seed = 1): readonly string[] => {
      try {
        runDelivery(scenario, { seed })
      } catch (error) {
        if (error instanceof InvalidScenarioError) return error.problems.map(({ at }) => at)
      }
      return []
    }
    assert.deepEqual(refused({ ...RIGHT, durationMs: 0 }), ['durationMs'])
    assert.deepEqual(refused(RIGHT, 0.5), ['seed'])
  })
})
