import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { presets } from '../presets/presets.ts'
import type { Imported } from './document.ts'
import { fromEnvoy } from './from-envoy.ts'
import { fromIstio, toIstio } from './istio.ts'
import { toEnvoy } from './to-envoy.ts'

const lost = ({ notCarried, problems }: Imported): string[] => {
  assert.equal(problems, undefined)
  return notCarried.map(({ at, say }) => `${at} ${say}`)
}
const wrong = ({ problems = [] }: Imported): string[] => problems.map(({ at, say }) => `${at} ${say}`)
const statusesOf = (retry_on: string, more: object = {}): readonly number[] | undefined =>
  fromEnvoy({ retry_on, ...more }).policy?.retry.retryableStatusCodes

describe('a policy from Envoy', () => {
  it('has its published defaults: one retry within 25 ms, all within 15 s', () => {
    const { policy, notCarried } = fromEnvoy({ retry_on: 'gateway-error' })
    assert.deepEqual(policy, {
      name: 'envoy',
      retry: {
        maxAttempts: 2,
        backoffType: 'EXPONENTIAL',
        initialDelayMs: 25,
        multiplier: 2,
        minDelayMs: 0,
        maxDelayMs: 250,
        jitterType: 'FULL',
        totalBudgetMs: 15_000,
        attemptTimeoutMs: 15_000,
        retryableStatusCodes: [502, 503, 504],
      },
    })
    assert.deepEqual(notCarried, [])
  })

  it('reads snake_case and camelCase, and not both of one field', () => {
    const snake = fromEnvoy({ retry_on: '5xx', num_retries: 3, retry_back_off: { base_interval: '0.1s' } })
    const camel = fromEnvoy({ retryOn: '5xx', numRetries: 3, retryBackOff: { baseInterval: '0.1s' } })
    assert.deepEqual(camel, snake)
    assert.equal(snake.policy?.retry.maxAttempts, 4)
    assert.equal(snake.policy.retry.maxDelayMs, 1_000)
    assert.deepEqual(wrong(fromEnvoy({ route: { retry_policy: { numRetries: 1, num_retries: 2 } } })), [
      'route.retry_policy.num_retries must not be given in both spellings',
    ])
  })

  it('turns conditions into statuses', () => {
    assert.equal(statusesOf('5xx')?.length, 100)
    assert.deepEqual(statusesOf('reset, retriable-4xx,gateway-error'), [409, 502, 503, 504])
    assert.deepEqual(statusesOf('reset,retriable-status-codes', { retriable_status_codes: [429, 503] }), [429, 503])
    assert.deepEqual(
      statusesOf('reset,cancelled,deadline-exceeded,internal,resource-exhausted,unavailable'),
      [499, 504, 500, 429, 503],
    )
  })

  it('says what its conditions lose', () => {
    assert.deepEqual(lost(fromEnvoy({ retry_on: 'unavailable,retriable-headers,5XX' })), [
      'retry_on is a status of gRPC, and becomes 503 of HTTP',
      'retry_on is a condition without a counterpart here',
      'retry_on is a condition without a counterpart here',
      'retry_on leaves out reset, but a lost connection is always retried here',
    ])
    assert.deepEqual(lost(fromEnvoy({ retry_on: 'reset', retriable_status_codes: [429] })), [
      'retriable_status_codes has no effect without retriable-status-codes among the conditions',
      'retry_on names no status, and a policy needs one: 503, as a proxy answers for a lost connection',
    ])
  })

  it('makes one attempt without a condition, and with no retries', () => {
    const silent = fromEnvoy({ num_retries: 3 })
    assert.equal(silent.policy?.retry.maxAttempts, 1)
    assert.deepEqual(lost(silent), ['retry_on names no condition, so that nothing is retried'])
    assert.equal(fromEnvoy({ retry_on: '5xx', num_retries: 0 }).policy?.retry.maxAttempts, 1)
  })

  it('has the deadline of the route, and ours where that is switched off', () => {
    const route = (timeout: string, per_try_timeout?: string): Imported =>
      fromEnvoy({ route: { timeout, retry_policy: { retry_on: '5xx', per_try_timeout } } })
    assert.equal(route('3s', '1s').policy?.retry.totalBudgetMs, 3_000)
    assert.equal(route('3s', '1s').policy?.retry.attemptTimeoutMs, 1_000)
    assert.equal(route('3s').policy?.retry.attemptTimeoutMs, 3_000)
    assert.equal(route('0s').policy?.retry.totalBudgetMs, 30_000)
    assert.deepEqual(route('0s').notCarried, [
      {
        at: 'route.timeout',
        is: '0s',
        say: 'is none, and a request could take for ever; here all of it ends after 30000 ms',
      },
    ])
  })

  it('has the budget of the cluster', () => {
    const budgetOf = (thresholds: unknown[]): unknown =>
      fromEnvoy({ cluster: { circuit_breakers: { thresholds } } }).policy?.budget
    const concurrent = (ratio: number, minRetries: number): object => ({ kind: 'concurrent', ratio, minRetries })
    assert.deepEqual(budgetOf([{ retry_budget: {} }]), concurrent(0.2, 3))
    assert.deepEqual(
      budgetOf([{ retryBudget: { budgetPercent: { value: 25 }, minRetryConcurrency: 10 } }]),
      concurrent(0.25, 10),
    )
    assert.deepEqual(budgetOf([]), concurrent(0, 3))
    assert.deepEqual(budgetOf([{ max_retries: 4_294_967_295 }]), concurrent(0, 1e9))
    assert.equal(fromEnvoy({ route: {} }).policy?.budget, undefined)
  })

  it('lists every field that it does not carry', () => {
    const imported = fromEnvoy({
      route: {
        cluster_header: 'x',
        hedge_policy: {},
        retry_policy: {
          retry_on: '5xx',
          per_try_idle_timeout: '1s',
          retry_host_predicate: [],
          host_selection_retry_max_attempts: '5',
          rate_limited_retry_back_off: { reset_headers: [{ name: 'X-RateLimit-Reset', format: 'UNIX_TIMESTAMP' }] },
        },
      },
      cluster: { circuit_breakers: { thresholds: [{ max_requests: 5 }, { priority: 'HIGH' }] } },
    })
    assert.deepEqual(imported.notCarried?.map(({ at }) => at).toSorted(), [
      'cluster.circuit_breakers.thresholds[0].max_requests',
      'cluster.circuit_breakers.thresholds[1]',
      'route.cluster_header',
      'route.hedge_policy',
      'route.retry_policy.host_selection_retry_max_attempts',
      'route.retry_policy.per_try_idle_timeout',
      'route.retry_policy.rate_limited_retry_back_off',
      'route.retry_policy.retry_host_predicate',
    ])
  })

  it('heeds Retry-After anyway, and lists every other header', () => {
    const lostOf = (...names: unknown[]): string[] =>
      lost(
        fromEnvoy({
          retry_on: '5xx',
          rate_limited_retry_back_off: { reset_headers: names.map(name => ({ name, format: 'SECONDS' })) },
        }),
      )
    assert.deepEqual(lostOf('retry-after'), [])
    for (const names of [[], ['Retry-After', 'X-Reset'], [3]])
      assert.deepEqual(lostOf(...names), [
        'rate_limited_retry_back_off is not carried: Retry-After is always heeded here, and no other header',
      ])
    assert.deepEqual(lost(fromEnvoy(toEnvoy(presets.envoy).config)), [])
  })

  it('is refused with durations of a hundred thousand characters, in no more time than with short ones', () => {
    for (const long of ['1'.repeat(100_000), `${'1'.repeat(100_000)}s`, `.${'0'.repeat(100_000)}`])
      assert.deepEqual(wrong(fromEnvoy({ route: { timeout: long } })), [
        'route.timeout must be a duration in seconds such as "0.1s", at most ten years',
      ])
  })

  it('is refused with every problem at once', () => {
    const retry_policy = {
      retry_on: 5,
      num_retries: -1,
      per_try_timeout: '1m',
      retry_back_off: {},
      retriable_status_codes: [99, 503],
    }
    const retry_budget = { budget_percent: 20 }
    const input = { route: { retry_policy }, cluster: { circuit_breakers: { thresholds: [{ retry_budget }] } } }
    assert.deepEqual(wrong(fromEnvoy(input)), [
      'route.retry_policy.retry_on must be a text, the conditions with commas between them',
      'route.retry_policy.num_retries must be a whole number from 0 to 9999',
      'route.retry_policy.per_try_timeout must be a duration in seconds such as "0.1s", at most ten years',
      'route.retry_policy.retriable_status_codes must be a list of HTTP statuses',
      'route.retry_policy.retry_back_off.base_interval must be given',
      'cluster.circuit_breakers.thresholds[0].retry_budget.budget_percent must be an object with value',
    ])
    const upsideDown = fromEnvoy({ retry_back_off: { base_interval: '1s', max_interval: '0.1s' } })
    assert.deepEqual(wrong(upsideDown), ['retry_back_off.max_interval must not be less than base_interval, 1000 ms'])
    assert.deepEqual(wrong(fromEnvoy({ route: 5 })), ['route must be an object with timeout, retry_policy'])
  })
})

describe('an Envoy document from a policy', () => {
  it('is the preset again, which loses nothing but its names', () => {
    const { config, notCarried } = toEnvoy(presets.envoy)
    assert.deepEqual(
      notCarried?.map(({ at }) => at),
      ['name', 'retry.policyId'],
    )
    assert.deepEqual(config, {
      route: {
        timeout: '15s',
        retry_policy: {
          retry_on: 'connect-failure,refused-stream,reset,retriable-status-codes',
          num_retries: 1,
          per_try_timeout: '15s',
          retry_back_off: { base_interval: '0.025s', max_interval: '0.25s' },
          rate_limited_retry_back_off: {
            reset_headers: [{ name: 'Retry-After', format: 'SECONDS' }],
            max_interval: '15s',
          },
          retriable_status_codes: [502, 503, 504],
        },
      },
      cluster: {
        circuit_breakers: {
          thresholds: [{ retry_budget: { budget_percent: { value: 20 }, min_retry_concurrency: 3 } }],
        },
      },
    })
  })

  it('doubles its waits: any other growth is lost', () => {
    assert.deepEqual(toEnvoy({ multiplier: 3 }).notCarried, [
      { at: 'retry.backoffType', is: 'EXPONENTIAL', say: 'waits 300 ms before retry 2; in Envoy it is 200 ms' },
    ])
    assert.deepEqual(toEnvoy({ multiplier: 2 }).notCarried, [])
  })

  it('takes concurrent budgets only, up to the whole of the requests', () => {
    const lostOf = (budget: never): string[] | undefined =>
      toEnvoy({ name: 'shop', retry: {}, budget }).notCarried?.map(({ at }) => at)
    assert.deepEqual(lostOf(false as never), ['name', 'budget'])
    assert.deepEqual(lostOf({ kind: 'rate', perSecond: 1, burst: 1 } as never), ['name', 'budget'])
    const wide = { kind: 'concurrent', ratio: 1.5, minRetries: 1, whenEmpty: 'deny-calls' }
    assert.deepEqual(lostOf(wide as never), ['name', 'budget.whenEmpty', 'budget.ratio'])
  })

  it('says nothing of a budget where a bare policy says nothing', () => {
    assert.deepEqual(toEnvoy({}).notCarried, [])
    assert.equal(toEnvoy({}).config?.cluster, undefined)
  })

  it('is not written from a policy that is wrong', () => {
    assert.equal(toEnvoy({ maxAttempts: 0 }).problems?.length, 1)
    assert.equal(toIstio({ maxAttempts: 0 }).problems?.length, 1)
  })
})

describe('a policy from Istio', () => {
  it('counts retries, and takes statuses among the conditions', () => {
    const retries = { attempts: 3, perTryTimeout: '2s', retryOn: 'connect-failure,reset,503,429' }
    const { policy, notCarried } = fromIstio({ timeout: '1m30s', retries })
    assert.equal(policy?.retry.maxAttempts, 4)
    assert.equal(policy.retry.attemptTimeoutMs, 2_000)
    assert.equal(policy.retry.totalBudgetMs, 90_000)
    assert.deepEqual(policy.retry.retryableStatusCodes, [503, 429])
    assert.deepEqual(notCarried, [])
  })

  it('may be written as retries alone', () => {
    assert.equal(fromIstio({ attempts: 3, retryOn: '5xx' }).policy?.retry.maxAttempts, 4)
    assert.deepEqual(lost(fromIstio({ attempts: 3, retryOn: '5xx' })), [
      'timeout is none, and a request could take for ever; here all of it ends after 30000 ms',
    ])
  })

  it('has its published defaults: two retries, on failed connections and two statuses of gRPC', () => {
    const { policy } = fromIstio({ timeout: '10s' })
    assert.equal(policy?.retry.maxAttempts, 3)
    assert.equal(policy.retry.initialDelayMs, 25)
    assert.deepEqual(policy.retry.retryableStatusCodes, [503, 499])
    assert.equal(fromIstio({ retries: { attempts: 0 } }).policy?.retry.maxAttempts, 1)
    assert.equal(fromIstio({ attempts: 2, retryOn: ' , ' }).policy?.retry.maxAttempts, 1)
  })

  it('takes durations in the words of Go', () => {
    const attemptMs = (perTryTimeout: string): number | undefined =>
      fromIstio({ attempts: 1, perTryTimeout }).policy?.retry.attemptTimeoutMs
    assert.equal(attemptMs('250ms'), 250)
    assert.equal(attemptMs('1h1m1.5s'), 3_661_500)
    assert.equal(attemptMs('.5s'), 500)
    assert.equal(attemptMs('1500us'), 2)
    for (const bad of ['5', 's', '1 s', '-1s', '1d', '', '1.2.3s']) assert.equal(attemptMs(bad), undefined, bad)
  })

  it('refuses durations of a hundred thousand characters, in no more time than short ones', () => {
    for (const long of ['1'.repeat(100_000), `${'1'.repeat(100_000)}s`, `.${'0'.repeat(100_000)}`, '1s'.repeat(50_000)])
      assert.deepEqual(wrong(fromIstio({ timeout: long })), [
        'timeout must be a duration such as "250ms" or "1m30s", at most ten years',
      ])
  })

  it('lists what is about places, and refuses what is wrong', () => {
    const imported = fromIstio({
      attempts: 1,
      retryOn: '5xx',
      retryRemoteLocalities: true,
      retryIgnorePreviousHosts: true,
    })
    assert.deepEqual(
      imported.notCarried?.map(({ at }) => at),
      ['retryRemoteLocalities', 'retryIgnorePreviousHosts', 'timeout'],
    )
    assert.deepEqual(wrong(fromIstio({ retries: { attempts: -1, backoff: '0s' } })), [
      'retries.attempts must be a whole number from 0 to 9999',
      'retries.backoff must be a duration such as "250ms" or "1m30s", more than 0 and at most ten years',
    ])
    assert.deepEqual(wrong(fromIstio(null)), [' must be an object with timeout, retries'])
  })
})

describe('an Istio route from a policy', () => {
  it('has its conditions and statuses in one text', () => {
    assert.deepEqual(toIstio({ retryableStatusCodes: [429, 503] }), {
      config: {
        timeout: '30s',
        retries: {
          attempts: 2,
          perTryTimeout: '10s',
          retryOn: 'connect-failure,refused-stream,reset,429,503',
          backoff: '0.1s',
        },
      },
      notCarried: [],
    })
  })

  it('waits ten times the first wait at the most, and has no budget', () => {
    assert.deepEqual(
      toIstio({ name: 'shop', retry: { maxAttempts: 7 } }).notCarried?.map(({ at, say }) => `${at} ${say}`),
      [
        'name has no counterpart in Istio',
        'budget has no counterpart in Istio',
        'retry.backoffType waits 1600 ms before retry 5; in Istio it is 1000 ms',
      ],
    )
  })
})
