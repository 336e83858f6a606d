import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { BUDGET_RULES, DEFAULT_BUDGET } from '@secondwind/resilience'
import type { Counted } from '../engine/pipeline.ts'
import { InvalidScenarioError, runScenario } from '../run-scenario.ts'
import { checkScenario } from './check-scenario.ts'
import type { Arrivals, Dependency, PolicyDocument, Scenario } from './scenario.ts'

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
      'dependencies.server.serviceMs must be milliseconds from 0 to 315576000000, ten years',
      'dependencies.server.servrs is an unknown field; did you mean servers?',
      'dependencies.server.errorRate must be a number from 0 to 1',
      'pipelines.policy.maxAtempts is an unknown field; did you mean maxAttempts?',
    ])
  })

  it('is told of names, circles, times and sizes together with what has the wrong shape', () => {
    const wrong = {
      name: 'm',
      durationMs: 1_000,
      warmUpMs: 2_000,
      clients: [
        {
          name: 'a',
          calls: 'nope',
          pipeline: 'nix',
          count: -1,
          arrivals: { kind: 'spike', perSecond: 10, peakPerSecond: 'x', fromMs: 5, untilMs: 1 },
        },
        { name: 'b', calls: 'calm', count: 1e9, arrivals: { kind: 'together', atMs: 0 } },
      ],
      dependencies: { d: { serviceMs: 1, downstream: [{ calls: 'd' }] }, calm: { serviceMs: 1 } },
    }
    assert.deepEqual(
      say(wrong).map(said => said.split(' ', 1)[0]),
      [
        'clients.0.count',
        'clients.0.arrivals.peakPerSecond',
        'clients.0.calls',
        'clients.0.pipeline',
        'dependencies.d.downstream',
        'warmUpMs',
        'clients.0.arrivals.untilMs',
        'clients.1.count',
      ],
    )
  })

  it('is told what it probably meant, in the words of other programs', () => {
    const words = {
      ...RIGHT,
      clients: [{ name: 'a', calls: 'server', arrivals: { kind: 'constant', perSecond: 1, rate: 50 } }],
      dependencies: {
        server: {
          serviceMs: 1,
          dependsOn: ['db'],
          queue: { shed: true },
          troubles: [{ fromMs: 0, untilMs: 1, errors: 0.5 }],
        },
      },
    }
    assert.deepEqual(say(words), [
      'clients.0.arrivals.rate is an unknown field; did you mean perSecond?',
      'dependencies.server.dependsOn is an unknown field; did you mean downstream?',
      'dependencies.server.queue.shed is an unknown field; did you mean maxLength?',
      'dependencies.server.troubles.0.errors is an unknown field; did you mean errorRate?',
    ])
  })

  it('whose distributions lie twenty thousand deep is answered, and not followed', () => {
    let serviceMs: unknown = 1
    for (let depth = 0; depth < 20_000; depth++)
      serviceMs = { kind: 'bimodal', fast: 1, slow: serviceMs, slowShare: 0.5 }
    const [problem, ...others] = say({ ...RIGHT, dependencies: { server: { serviceMs } } })
    assert.match(problem!, /\.slow must not lie deeper than 10 others$/)
    assert.deepEqual(others, [])
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
      'clients.0.count would need 1500 GB of memory, and 2 GB is the most: let several clients share a process, or take fewer',
    ])
    assert.match(say({ ...RIGHT, durationMs: 1e11, stepMs: 1 })[0]!, /^stepMs would need .* GB/)
  })

  const open = (perSecond: number): Scenario['clients'] => [
    { name: 'clients', calls: 'server', arrivals: { kind: 'poisson', perSecond } },
  ]

  it('with more calls than anybody waits for is refused with the hours that they would take', () => {
    assert.deepEqual(say({ ...RIGHT, durationMs: 3e11, stepMs: 1e9, clients: open(300) }), [
      'clients.0.arrivals would make 90,000,000,000 calls, which takes 25 hours or more, and 1,000,000,000 is the most: take a shorter time, or fewer calls',
    ])
    const cases: readonly (readonly [Arrivals, thousandMillions: number])[] = [
      [{ kind: 'closed', thinkMs: 0 }, 10],
      [{ kind: 'spike', perSecond: 0, peakPerSecond: 1e9, fromMs: 7_000, untilMs: 20_000 }, 3],
      [{ kind: 'ramp', points: [0, 20_000].map(atMs => ({ atMs, perSecond: atMs * 4e4 })) }, 2],
    ]
    for (const [arrivals, thousandMillions] of cases) {
      const clients = [{ ...open(1)[0]!, count: 1e6, arrivals }]
      const [problem] = say({ ...RIGHT, durationMs: 10_000, clients, dependencies: { server: { serviceMs: 0 } } })
      assert.ok(problem!.startsWith(`clients.0.arrivals would make ${thousandMillions},000,000,000 calls`), problem)
    }
  })

  it('counts the calls of its tiers, by however many ways they are reached', () => {
    const layers = Array.from({ length: 40 }, (_, layer) => [
      `layer ${layer}`,
      { serviceMs: 1, downstream: [1, 2].map(() => ({ calls: `layer ${layer + 1}` })) },
    ])
    const dependencies = { ...Object.fromEntries(layers), 'layer 40': { serviceMs: 1 } } as Scenario['dependencies']
    assert.match(
      say({ ...RIGHT, clients: [{ ...open(10)[0]!, calls: 'layer 0' }], dependencies }).join(),
      /would make 22,000,000,000,000 calls/,
    )
  })

  it('in which more waits than memory holds is refused, unless somebody gives up, drops or refuses', () => {
    const crowd = (server: Partial<Dependency>, policy?: PolicyDocument): string[] =>
      say({
        ...RIGHT,
        durationMs: 42_000,
        clients: [{ ...open(1e6)[0]!, ...(policy && { pipeline: 'policy' }) }],
        ...(policy && { pipelines: { policy } }),
        dependencies: { server: { servers: 10, serviceMs: 20, ...server } },
      })
    assert.match(crowd({}).join(), /^clients\.0\.arrivals would need 12\.6 GB of memory/)
    assert.match(crowd({ servers: 1e9, serviceMs: 1e6 }).join(), /^clients\.0\.arrivals would need 12\.6 GB/)
    assert.match(crowd({}, { maxAttempts: 3 }).join(), /would need 12\.6 GB/)
    assert.deepEqual(crowd({ queue: { maxLength: 100 } }), [])
    assert.deepEqual(crowd({ cancels: true }), [])
    assert.deepEqual(crowd({}, { name: 'p', retry: {}, breaker: {} }), [])
  })

  it('is run with a whole number for its seed, and no other', () => {
    for (const seed of [Number.NaN, 1.5, 'a', Infinity])
      assert.throws(
        () => runScenario(RIGHT, { seed: seed as number }),
        (error: unknown) => error instanceof InvalidScenarioError && error.problems[0]!.at === 'seed',
      )
    assert.equal(runScenario(RIGHT, { seed: -3 }).seed, -3)
  })

  it('is run with budgets of its own pipelines, and no others', () => {
    const counted: Counted = { policy: DEFAULT_BUDGET, rule: BUDGET_RULES.ratio }
    const known = 'policy'
    assert.throws(
      () => runScenario(RIGHT, { budgets: { [known]: counted, misspelt: counted } }),
      (error: unknown) =>
        error instanceof InvalidScenarioError &&
        error.problems.length === 1 &&
        error.message.includes(`budgets.misspelt must be the name of a pipeline: ${known}`),
    )
    assert.equal(runScenario(RIGHT, { budgets: { [known]: counted } }).seed, 1)
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
