import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { InvalidScenarioError, runScenario } from '../run-scenario.ts'
import { checkScenario } from './check-scenario.ts'
import type { Scenario } from './scenario.ts'

const RIGHT: Scenario = {
  name: 'right',
  durationMs: 1_000,
  clients: [{ name: 'clients', calls: 'server', pipeline: 'policy', arrivals: { kind: 'poisson', perSecond: 10 } }],
  pipelines: { policy: { maxAttempts: 3 } },
  dependencies: { server: { serviceMs: 10 } },
}

const say = (input: unknown): string[] => (checkScenario(input).problems ?? []).map(({ at, say }) => `${at} ${say}`)

describe('a scenario', () => {
  it('that is right is handed back as it is', () => {
    assert.deepEqual(checkScenario(RIGHT), { scenario: RIGHT })
  })

  it('is told all of its problems at once, those of its policies too, with what was probably meant', () => {
    const wrong = {
      name: '',
      duration: 5,
      clients: [{ name: 'a', cals: 'server', arrivals: { kind: 'poison', perSecond: 1 } }],
      pipelines: { policy: { maxAtempts: 3 } },
      dependencies: { server: { serviceMs: -1, servrs: 2, errorRate: 2 } },
    }
    assert.deepEqual(say(wrong), [
      'durationMs must be given',
      'name must be a text of 1 to 200 characters',
      'duration is an unknown field; did you mean durationMs?',
      'clients.0.calls must be given',
      'clients.0.cals is an unknown field; did you mean calls?',
      'clients.0.arrivals.kind must be one of poisson, constant, ramp, spike, trace, closed, together; did you mean poisson?',
      'dependencies.server.serviceMs must be milliseconds, 0 or more',
      'dependencies.server.servrs is an unknown field; did you mean servers?',
      'dependencies.server.errorRate must be a number from 0 to 1',
      'pipelines.policy.maxAtempts is an unknown field; did you mean maxAttempts?',
    ])
  })

  it('names what is there', () => {
    const lost = {
      ...RIGHT,
      clients: [{ ...RIGHT.clients[0]!, calls: 'sever', pipeline: 'polcy' }],
      killOrders: [{ atMs: 0, level: 'retries-off', pipeline: 'other' }],
    }
    assert.deepEqual(say(lost), [
      'clients.0.calls is no dependency of this scenario; did you mean server?',
      'clients.0.pipeline is no pipeline of this scenario; did you mean policy?',
      'killOrders.0.pipeline is no pipeline of this scenario',
    ])
  })

  it('does not lead back to where it began', () => {
    const circle = {
      ...RIGHT,
      dependencies: {
        server: { serviceMs: 1, downstream: [{ calls: 'below' }] },
        below: { serviceMs: 1, downstream: [{ calls: 'server' }] },
      },
    }
    assert.match(say(circle).join('\n'), /dependencies\.server\.downstream leads back to where it began/)
  })

  it('does not end before it begins', () => {
    const trouble = { ...RIGHT, dependencies: { server: { serviceMs: 1, troubles: [{ fromMs: 5, untilMs: 5 }] } } }
    assert.deepEqual(say(trouble), ['dependencies.server.troubles.0.untilMs must be later than fromMs, 5'])
    assert.deepEqual(say({ ...RIGHT, warmUpMs: 1_000 }), ['warmUpMs must be less than durationMs, 1000'])
  })

  it('of an absurd size is refused with the memory that it would need', () => {
    const many = { ...RIGHT, clients: [{ ...RIGHT.clients[0]!, count: 1e9 }] }
    assert.deepEqual(say(many), [
      'clients.0.count would need 1800 GB of memory, and 2 GB is the most: let several clients share a process, or take fewer',
    ])
    assert.match(say({ ...RIGHT, durationMs: 1e11, stepMs: 1 })[0]!, /^stepMs would need .* GB/)
  })

  it('that is wrong is not run', () => {
    assert.throws(
      () => runScenario({ ...RIGHT, durationMs: -1 }),
      (error: unknown) =>
        error instanceof InvalidScenarioError && error.code === 'invalid-scenario' && error.problems.length === 1,
    )
  })

  it('whatever it is, is answered and not thrown at', () => {
    for (const input of [undefined, null, 1, 'scenario', [], {}, { clients: 1, dependencies: null, pipelines: 2 }])
      assert.notEqual(checkScenario(input).problems?.length ?? 0, 0)
  })
})
