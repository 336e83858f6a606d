import assert from 'node:assert/strict'
import { describe, it, vi } from 'vitest'
// #region import
import { createBudget, fromGrpcServiceConfig, retry, toGrpcServiceConfig } from '@secondwind/resilience'
// #endregion
import { fromEnvoy, fromIstio, toEnvoy, toIstio } from '@secondwind/resilience'
import { instantTime } from './instant-time.ts'

instantTime()

const text = JSON.stringify({
  methodConfig: [
    {
      name: [{ service: 'shop.Cart' }],
      timeout: '2s',
      waitForReady: true,
      retryPolicy: {
        maxAttempts: 4,
        initialBackoff: '0.1s',
        maxBackoff: '1s',
        backoffMultiplier: 2,
        retryableStatusCodes: ['UNAVAILABLE'],
      },
    },
  ],
  retryThrottling: { maxTokens: 10, tokenRatio: 0.1 },
})

describe('a policy of gRPC', () => {
  it('is imported for one call, and says what it loses', async () => {
    vi.spyOn(console, 'warn').mockReturnValue()
    let calls = 0
    const addToCart = async (): Promise<string> => {
      if (++calls < 3) throw Object.assign(new Error('busy'), { status: 503 })
      return 'added'
    }
    // #region grpc
    const { policy, notCarried, problems } = fromGrpcServiceConfig(JSON.parse(text), 'shop.Cart/Add')
    if (problems !== undefined) throw new Error(problems.map(({ at, say }) => `${at} ${say}`).join('\n'))
    for (const { at, say } of notCarried) console.warn(at, say)
    // methodConfig[0].waitForReady has no counterpart here: a call that cannot connect has failed

    const budget = createBudget(policy.budget || undefined)
    const cart = await retry(addToCart, policy.retry, { budget })
    // #endregion
    assert.equal(cart, 'added')
    assert.equal(calls, 3)
    assert.deepEqual(
      notCarried.map(({ at, say }) => `${at} ${say}`),
      ['methodConfig[0].waitForReady has no counterpart here: a call that cannot connect has failed'],
    )
  })

  it('is exported the same way', () => {
    // #region to-grpc
    const { config, notCarried } = toGrpcServiceConfig({ maxAttempts: 3, retryableStatusCodes: [429, 502, 503] })
    // config.methodConfig[0].retryPolicy.retryableStatusCodes: RESOURCE_EXHAUSTED, UNAVAILABLE
    // notCarried:
    // retry.jitterType            is PROPORTIONAL 0.2 in gRPC
    // retry.retryableStatusCodes  have no code in gRPC (is 502)
    // retry.attemptTimeoutMs      has no counterpart in gRPC: every attempt may last until the deadline
    // #endregion
    assert.deepEqual(config?.methodConfig[0].retryPolicy?.retryableStatusCodes, ['RESOURCE_EXHAUSTED', 'UNAVAILABLE'])
    assert.deepEqual(notCarried, [
      { at: 'retry.jitterType', is: 'FULL', say: 'is PROPORTIONAL 0.2 in gRPC' },
      { at: 'retry.retryableStatusCodes', is: [502], say: 'have no code in gRPC' },
      {
        at: 'retry.attemptTimeoutMs',
        is: 10_000,
        say: 'has no counterpart in gRPC: every attempt may last until the deadline',
      },
    ])
  })
})

describe('a policy of Envoy', () => {
  it('is imported from a retry policy, or with its route and cluster', () => {
    // #region envoy
    const alone = fromEnvoy({ retry_on: '5xx', num_retries: 3, per_try_timeout: '2s' })

    const whole = fromEnvoy({
      route: { timeout: '10s', retry_policy: { retry_on: 'gateway-error,reset', num_retries: 3 } },
      cluster: { circuit_breakers: { thresholds: [{ retry_budget: { budget_percent: { value: 25 } } }] } },
    })
    // #endregion
    assert.equal(alone.policy?.retry.maxAttempts, 4)
    assert.equal(alone.policy.retry.totalBudgetMs, 15_000)
    assert.equal(whole.policy?.retry.totalBudgetMs, 10_000)
    assert.deepEqual(whole.policy.budget, { kind: 'concurrent', ratio: 0.25, minRetries: 3 })
  })

  it('and one of Istio by its own function', () => {
    // #region istio
    const { policy } = fromIstio({
      timeout: '10s',
      retries: { attempts: 3, perTryTimeout: '2s', retryOn: 'gateway-error,reset,429' },
    })
    // #endregion
    assert.deepEqual(policy?.retry.retryableStatusCodes, [502, 503, 504, 429])
  })

  it('is exported to either', () => {
    // #region to-proxies
    const patient = { maxAttempts: 4, initialDelayMs: 50, totalBudgetMs: 10_000, attemptTimeoutMs: 3_000 }
    const envoy = toEnvoy(patient).config // { route: { timeout: '10s', retry_policy: { num_retries: 3, … } } }
    const istio = toIstio(patient).config // { timeout: '10s', retries: { attempts: 3, perTryTimeout: '3s', … } }
    // #endregion
    assert.equal(envoy?.route.timeout, '10s')
    assert.equal(envoy.route.retry_policy.num_retries, 3)
    assert.equal(istio?.timeout, '10s')
    assert.equal(istio.retries.attempts, 3)
    assert.equal(istio.retries.perTryTimeout, '3s')
  })
})
