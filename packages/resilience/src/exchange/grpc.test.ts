import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { presets } from '../presets/presets.ts'
import { delayRange } from '../retry/backoff.ts'
import { checkPolicy } from '../pipeline/policy.ts'
import type { Imported } from './document.ts'
import { fromGrpcServiceConfig } from './from-grpc.ts'
import type { GrpcCall } from './grpc-call.ts'
import { toGrpcServiceConfig } from './to-grpc.ts'

/** The example of gRFC A6. */
const RETRY_POLICY = {
  maxAttempts: 4,
  initialBackoff: '0.1s',
  maxBackoff: '1s',
  backoffMultiplier: 2,
  retryableStatusCodes: ['UNAVAILABLE'],
}
const THROTTLING = { maxTokens: 10, tokenRatio: 0.1 }

const config = (entry: object, rest: object = { retryThrottling: THROTTLING }): object => ({
  methodConfig: [{ name: [{}], timeout: '5s', ...entry }],
  ...rest,
})
const retries = (fields: object): object => config({ retryPolicy: { ...RETRY_POLICY, ...fields } })
const lost = ({ notCarried, problems }: Imported): string[] => {
  assert.equal(problems, undefined)
  return notCarried.map(({ at, say }) => `${at} ${say}`)
}
const wrong = (input: unknown): string[] =>
  (fromGrpcServiceConfig(input).problems ?? []).map(({ at, say }) => `${at} ${say}`)

describe('a policy from a service config', () => {
  it('has its attempts, waits, deadline, statuses and tokens', () => {
    const { policy, notCarried } = fromGrpcServiceConfig(retries({}))
    assert.deepEqual(policy, {
      name: 'grpc',
      retry: {
        maxAttempts: 4,
        backoffType: 'EXPONENTIAL',
        initialDelayMs: 100,
        multiplier: 2,
        minDelayMs: 0,
        maxDelayMs: 1_000,
        jitterType: 'PROPORTIONAL',
        jitterRatio: 0.2,
        totalBudgetMs: 5_000,
        attemptTimeoutMs: 5_000,
        retryableStatusCodes: [503],
      },
      budget: { kind: 'tokens', maxTokens: 10, tokenRatio: 0.1 },
    })
    assert.deepEqual(notCarried, [])
  })

  it('waits as the preset does', () => {
    const { policy } = checkPolicy(fromGrpcServiceConfig(retries({})).policy!)
    for (let attempt = 1; attempt < 4; attempt++) {
      const state = { attempt, previousDelayMs: 100 }
      assert.deepEqual(delayRange(policy!.retry, state), delayRange(presets.grpc.retry, state))
    }
  })

  it('makes five attempts where more are asked for, and says so', () => {
    const imported = fromGrpcServiceConfig(retries({ maxAttempts: 8 }))
    assert.equal(imported.policy?.retry.maxAttempts, 5)
    assert.deepEqual(lost(imported), ['methodConfig[0].retryPolicy.maxAttempts is 5 to gRPC, and here'])
    assert.deepEqual(lost(fromGrpcServiceConfig(retries({ maxAttempts: 5 }))), [])
  })

  it('takes codes by name in any case and by number', () => {
    const { policy } = fromGrpcServiceConfig(retries({ retryableStatusCodes: ['unavailable', 8, 'Aborted', 6] }))
    assert.deepEqual(policy?.retry.retryableStatusCodes, [503, 429, 409])
  })

  it('says which other codes a status stands for, and that lost connections are retried anyway', () => {
    assert.deepEqual(lost(fromGrpcServiceConfig(retries({ retryableStatusCodes: ['INTERNAL'] }))), [
      'methodConfig[0].retryPolicy.retryableStatusCodes becomes 500, which stands for UNKNOWN, DATA_LOSS too',
      'methodConfig[0].retryPolicy.retryableStatusCodes leaves out UNAVAILABLE, but a lost connection is always retried here',
    ])
  })

  it('rounds up to whole milliseconds, and keeps the first wait within the longest', () => {
    const imported = fromGrpcServiceConfig(retries({ initialBackoff: '2s', maxBackoff: '0.0005s' }))
    assert.equal(imported.policy?.retry.initialDelayMs, 1)
    assert.equal(imported.policy?.retry.maxDelayMs, 1)
    assert.deepEqual(lost(imported), ['methodConfig[0].retryPolicy.maxBackoff is rounded up to 1 ms'])
  })

  it('does not let waits shrink', () => {
    const imported = fromGrpcServiceConfig(retries({ backoffMultiplier: 0.5 }))
    assert.equal(imported.policy?.retry.multiplier, 1)
    assert.deepEqual(lost(imported), ['methodConfig[0].retryPolicy.backoffMultiplier is 1 here'])
  })

  it('has our deadline and our budget where the config has none, and says so', () => {
    const imported = fromGrpcServiceConfig({ methodConfig: [{ name: [{}], retryPolicy: RETRY_POLICY }] })
    assert.equal(imported.policy?.retry.totalBudgetMs, 30_000)
    assert.equal(imported.policy?.retry.attemptTimeoutMs, 10_000)
    assert.equal(imported.policy?.budget, undefined)
    assert.deepEqual(
      imported.notCarried?.map(({ at }) => at),
      ['retryThrottling', 'methodConfig[0].timeout'],
    )
  })

  it('hedges instead of retrying where the config does', () => {
    const hedging = config({ hedgingPolicy: { maxAttempts: 2, hedgingDelay: '0.5s' } })
    const { policy, notCarried } = fromGrpcServiceConfig(hedging)
    assert.equal(policy?.retry.maxAttempts, 1)
    assert.deepEqual(policy.hedge, { delayMs: 500, maxExtraCalls: 1, maxExtraLoad: 1 })
    assert.deepEqual(notCarried, [])
  })

  it('says what its hedges cannot do', () => {
    const hedgingPolicy = { maxAttempts: 4, nonFatalStatusCodes: ['UNAVAILABLE'] }
    assert.deepEqual(lost(fromGrpcServiceConfig(config({ hedgingPolicy }))), [
      'methodConfig[0].hedgingPolicy.nonFatalStatusCodes has no counterpart here: slow calls are hedged, not failed ones',
      'methodConfig[0].hedgingPolicy.maxAttempts is less here on the whole: one hedge for each call',
    ])
    const late = fromGrpcServiceConfig(config({ hedgingPolicy: { maxAttempts: 2, hedgingDelay: '5s' } }))
    assert.equal(late.policy?.hedge, undefined)
    assert.deepEqual(lost(late), [
      'methodConfig[0].hedgingPolicy.hedgingDelay is never reached: a call ends after 5000 ms',
    ])
  })

  it('lists every other field, known or not', () => {
    const other = config(
      { waitForReady: true, maxRequestMessageBytes: 1, retryPolicy: { ...RETRY_POLICY, maxAtempts: 3 } },
      { retryThrottling: { ...THROTTLING, per: 'host' }, loadBalancingConfig: [{ round_robin: {} }] },
    )
    assert.deepEqual(lost(fromGrpcServiceConfig(other)), [
      'loadBalancingConfig is not about retries',
      'retryThrottling.per is an unknown field',
      'methodConfig[0].waitForReady has no counterpart here: a call that cannot connect has failed',
      'methodConfig[0].maxRequestMessageBytes is not about retries',
      'methodConfig[0].retryPolicy.maxAtempts is an unknown field; did you mean maxAttempts?',
    ])
  })
})

describe('the entry that counts', () => {
  const entry = (name: object, timeout: string): object => ({ name: [name], timeout })
  const whole = {
    methodConfig: [
      entry({}, '1s'),
      entry({ service: 'shop.Cart' }, '2s'),
      entry({ service: 'shop.Cart', method: 'Add' }, '3s'),
    ],
    retryThrottling: THROTTLING,
  }
  const deadlineOf = (method?: string): number | undefined =>
    fromGrpcServiceConfig(whole, method).policy?.retry.totalBudgetMs

  it('is that of the method, else of its service, else the one without a name', () => {
    assert.equal(deadlineOf('shop.Cart/Add'), 3_000)
    assert.equal(deadlineOf('/shop.Cart/Add'), 3_000)
    assert.equal(deadlineOf('shop.Cart/Remove'), 2_000)
    assert.equal(deadlineOf('shop.Cart'), 2_000)
    assert.equal(deadlineOf('shop.Stock/Add'), 1_000)
    assert.equal(deadlineOf(), 1_000)
  })

  it('is named by a text or as gRPC writes a name, whole or in part', () => {
    const deadlines: readonly (readonly [call: unknown, deadlineMs: number, name: string])[] = [
      [undefined, 1_000, 'grpc'],
      ['', 1_000, 'grpc'],
      [{}, 1_000, 'grpc'],
      [{ service: undefined, method: undefined }, 1_000, 'grpc'],
      [{ service: '', method: null }, 1_000, 'grpc'],
      ['shop.Cart', 2_000, 'shop.Cart'],
      [{ service: 'shop.Cart' }, 2_000, 'shop.Cart'],
      [{ service: 'shop.Cart', method: '' }, 2_000, 'shop.Cart'],
      [{ service: 'shop.Cart', method: 'Remove' }, 2_000, 'shop.Cart/Remove'],
      [{ service: 'shop.Cart', method: 'Add' }, 3_000, 'shop.Cart/Add'],
      [{ service: 'shop.Stock', method: 'Add' }, 1_000, 'shop.Stock/Add'],
    ]
    for (const [call, deadlineMs, name] of deadlines) {
      const { policy } = fromGrpcServiceConfig(whole, call as GrpcCall | undefined)
      assert.deepEqual([policy?.retry.totalBudgetMs, policy?.name], [deadlineMs, name], JSON.stringify(call))
    }
    const written = toGrpcServiceConfig({}, { service: 'shop.Cart' }).config?.methodConfig[0].name
    assert.deepEqual(written, [{ service: 'shop.Cart' }])
  })

  it('is refused where it names no call, in both directions, beside all other problems', () => {
    const refused: readonly (readonly [call: unknown, problem: string])[] = [
      [{ method: 'Add' }, 'call.service must be given with a method'],
      [{ service: '', method: 'Add' }, 'call.service must be given with a method'],
      [{ service: 7 }, 'call.service must be a text'],
      [{ servce: 'shop.Cart' }, 'call.servce is an unknown field; did you mean service?'],
      [null, "call must be a text such as 'shop.Cart/Add', or { service, method }"],
      [['shop.Cart'], "call must be a text such as 'shop.Cart/Add', or { service, method }"],
      [7, "call must be a text such as 'shop.Cart/Add', or { service, method }"],
    ]
    for (const [call, problem] of refused) {
      const problems = [
        ...(fromGrpcServiceConfig({ methodConfig: 1 }, call as GrpcCall).problems ?? []),
        ...(toGrpcServiceConfig({ maxAttempts: 0 }, call as GrpcCall).problems ?? []),
      ].map(({ at, say }) => `${at} ${say}`)
      assert.deepEqual(problems, [
        problem,
        'methodConfig must be a list',
        'maxAttempts must be a whole number from 1 to 10000',
        problem,
      ])
    }
  })

  it('is the same whether a name is empty, null or absent', () => {
    const spelled = {
      methodConfig: [entry({ service: 'shop.Cart', method: null }, '2s'), entry({ service: '' }, '1s')],
    }
    assert.equal(fromGrpcServiceConfig(spelled, 'shop.Cart/Add').policy?.retry.totalBudgetMs, 2_000)
    assert.equal(fromGrpcServiceConfig(spelled).policy?.retry.totalBudgetMs, 1_000)
  })

  it('leaves the others listed', () => {
    assert.deepEqual(lost(fromGrpcServiceConfig(whole, 'shop.Cart')), [
      'methodConfig[0] is for other calls: import it by their name',
      'methodConfig[2] is for other calls: import it by their name',
    ])
    const nameless = { methodConfig: [{ name: [], timeout: '1s' }], retryThrottling: THROTTLING }
    assert.ok(lost(fromGrpcServiceConfig(nameless)).includes('methodConfig[0] has no name, and gRPC skips it'))
  })

  it('may be missing: then the call is made once', () => {
    const named = { methodConfig: [{ name: [{ service: 'shop.Cart' }], retryPolicy: RETRY_POLICY }] }
    assert.equal(fromGrpcServiceConfig(named, 'shop.Stock/Add').policy?.retry.maxAttempts, 1)
    assert.equal(fromGrpcServiceConfig({}).policy?.retry.maxAttempts, 1)
  })
})

describe('a service config that is wrong', () => {
  it('is refused with every problem at once, also in entries that would not be chosen', () => {
    const input = {
      methodConfig: [
        {
          name: [{}],
          timeout: '0s',
          retryPolicy: { maxAttempts: 1, initialBackoff: '100ms', retryableStatusCodes: [] },
        },
        { name: [{ method: 'Add' }, {}], retryPolicy: RETRY_POLICY, hedgingPolicy: { hedgingDelay: 'soon' } },
      ],
      retryThrottling: { maxTokens: 0 },
    }
    assert.deepEqual(wrong(input), [
      'methodConfig[0].timeout must be a duration in seconds such as "0.1s", more than 0 and at most ten years',
      'methodConfig[0].retryPolicy.maxAttempts must be a whole number from 2 to 4294967295',
      'methodConfig[0].retryPolicy.initialBackoff must be a duration in seconds such as "0.1s", more than 0 and at most ten years',
      'methodConfig[0].retryPolicy.retryableStatusCodes must be a list of 1 or more gRPC status codes, by name or number, OK not among them',
      'methodConfig[0].retryPolicy.maxBackoff must be given',
      'methodConfig[0].retryPolicy.backoffMultiplier must be given',
      'methodConfig[1].name[0].service must be given with a method',
      'methodConfig[1].hedgingPolicy.hedgingDelay must be a duration in seconds such as "0.1s", at most ten years',
      'methodConfig[1].hedgingPolicy.maxAttempts must be given',
      'methodConfig[1].hedgingPolicy and retryPolicy exclude each other',
      'methodConfig[1].name[1] must not be named twice',
      'retryThrottling.maxTokens must be a number from 0.001 to 1000',
      'retryThrottling.tokenRatio must be given',
    ])
  })

  it('is refused with durations of a hundred thousand characters, in no more time than with short ones', () => {
    for (const long of ['1'.repeat(100_000), `${'1'.repeat(100_000)}s`, `.${'0'.repeat(100_000)}`, '1s'.repeat(50_000)])
      assert.deepEqual(wrong(config({ timeout: long })), [
        'methodConfig[0].timeout must be a duration in seconds such as "0.1s", more than 0 and at most ten years',
      ])
  })

  it('has no OK among its codes, and no multiplier of nothing', () => {
    for (const code of ['OK', 0, 17, 'OKAY', null])
      assert.equal(wrong(retries({ retryableStatusCodes: [code] })).length, 1)
    assert.deepEqual(wrong(retries({ backoffMultiplier: 0 })), [
      'methodConfig[0].retryPolicy.backoffMultiplier must be a number, more than 0',
    ])
  })

  it('must be an object, all the way down', () => {
    assert.deepEqual(wrong('{}'), [' must be an object with methodConfig, retryThrottling'])
    assert.deepEqual(wrong({ methodConfig: {} }), ['methodConfig must be a list'])
    assert.deepEqual(wrong({ methodConfig: [3] }), [
      'methodConfig[0] must be an object with name, timeout, retryPolicy, hedgingPolicy',
    ])
  })
})

describe('a service config from a policy', () => {
  it('is that of the method that is named', () => {
    const nameOf = (method?: string): object => toGrpcServiceConfig({}, method).config!.methodConfig[0].name[0]
    assert.deepEqual(nameOf('shop.Cart/Add'), { service: 'shop.Cart', method: 'Add' })
    assert.deepEqual(nameOf('shop.Cart'), { service: 'shop.Cart' })
    assert.deepEqual(nameOf(), {})
  })

  it('has what gRPC can say, and the rest is listed', () => {
    const { config, notCarried } = toGrpcServiceConfig({})
    assert.deepEqual(config?.methodConfig[0], {
      name: [{}],
      timeout: '30s',
      retryPolicy: {
        maxAttempts: 3,
        initialBackoff: '0.1s',
        maxBackoff: '5s',
        backoffMultiplier: 2,
        retryableStatusCodes: [
          'UNKNOWN',
          'DEADLINE_EXCEEDED',
          'RESOURCE_EXHAUSTED',
          'INTERNAL',
          'UNAVAILABLE',
          'DATA_LOSS',
        ],
      },
    })
    assert.deepEqual(notCarried, [
      { at: 'retry.jitterType', is: 'FULL', say: 'is PROPORTIONAL 0.2 in gRPC' },
      { at: 'retry.retryableStatusCodes', is: [408, 425, 502], say: 'have no code in gRPC' },
      {
        at: 'retry.attemptTimeoutMs',
        is: 10_000,
        say: 'has no counterpart in gRPC: every attempt may last until the deadline',
      },
    ])
  })

  it('lists each part that has no place in it', () => {
    const { notCarried } = toGrpcServiceConfig({
      name: 'shop',
      retry: {
        policyId: 'p',
        maxAttempts: 9,
        inProcess: { maxAttempts: 2 },
        minDelayMs: 5,
        retryableStatusCodes: [500],
      },
      hedge: {},
      breaker: {},
      bulkhead: {},
      rateLimit: { perSecond: 1 },
      limiter: { kind: 'vegas' },
      throttle: {},
    })
    assert.deepEqual(notCarried?.map(({ at }) => at).toSorted(), [
      'breaker',
      'budget',
      'bulkhead',
      'hedge',
      'limiter',
      'name',
      'rateLimit',
      'retry.attemptTimeoutMs',
      'retry.inProcess',
      'retry.jitterType',
      'retry.maxAttempts',
      'retry.minDelayMs',
      'retry.policyId',
      'retry.retryableStatusCodes',
      'throttle',
    ])
  })

  it('keeps any curve whose waits it can make, and says where the others part', () => {
    const lostCurve = (retry: object): string | undefined =>
      toGrpcServiceConfig({ maxAttempts: 4, ...retry }).notCarried?.find(({ at }) => at === 'retry.backoffType')?.say
    assert.equal(lostCurve({ backoffType: 'FIXED' }), undefined)
    assert.equal(lostCurve({ backoffType: 'CUSTOM', delaysMs: [30, 100, 333] }), undefined)
    assert.equal(lostCurve({ backoffType: 'LINEAR', maxAttempts: 3 }), undefined)
    assert.equal(lostCurve({ backoffType: 'LINEAR' }), 'waits 300 ms before retry 3; in gRPC it is 400 ms')
    assert.equal(lostCurve({ initialDelayMs: 0 }), 'waits 0 ms before retry 1; in gRPC it is 1 ms')
    assert.equal(lostCurve({ backoffType: 'FIBONACCI', maxAttempts: 1 }), undefined)
  })

  it('hedges where the policy does that only, after a fixed time', () => {
    const hedged = (maxExtraCalls: number): object =>
      toGrpcServiceConfig({
        name: 'shop',
        retry: { maxAttempts: 1, attemptTimeoutMs: 30_000 },
        budget: false,
        hedge: { delayMs: 50, maxExtraCalls },
      })
    assert.deepEqual(hedged(2), {
      config: {
        methodConfig: [{ name: [{}], timeout: '30s', hedgingPolicy: { maxAttempts: 3, hedgingDelay: '0.05s' } }],
      },
      notCarried: [
        { at: 'name', is: 'shop', say: 'has no counterpart in gRPC' },
        { at: 'hedge.maxExtraLoad', is: 0.02, say: 'has no counterpart in gRPC' },
      ],
    })
    assert.match(JSON.stringify(hedged(5)), /"hedge.maxExtraCalls","is":5,"say":"is too much for gRPC/)
  })

  it('has tokens, and lists what belongs to any budget', () => {
    const budget = { kind: 'tokens', maxTokens: 10, tokenRatio: 0.1, replicas: 3 } as const
    const { config, notCarried } = toGrpcServiceConfig({ name: 'shop', retry: presets.grpc.retry, budget })
    assert.deepEqual(config?.retryThrottling, THROTTLING)
    assert.deepEqual(
      notCarried?.filter(({ at }) => at.startsWith('budget')),
      [{ at: 'budget.replicas', is: 3, say: 'has no counterpart in gRPC' }],
    )
  })

  it('is not written from a policy that is wrong', () => {
    assert.deepEqual(toGrpcServiceConfig({ maxAttempts: 0 }).problems, [
      { at: 'maxAttempts', is: 0, say: 'must be a whole number from 1 to 10000' },
    ])
  })
})
