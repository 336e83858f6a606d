import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
// #region import
import { pipeline } from '@secondwind/resilience'
// #endregion
import { checkPolicy, createBudget, InvalidPolicyError, RefusedError, type Attempt } from '@secondwind/resilience'
import { instantTime } from './instant-time.ts'

instantTime()

const busy = (): Error => Object.assign(new Error('busy'), { status: 503 })

const down = async (): Promise<never> => {
  throw busy()
}

/** Fails so often, then answers. */
function failing<T>(times: number, answer: T): (attempt: Attempt) => Promise<T> {
  let calls = 0
  return async () => {
    if (calls++ < times) throw busy()
    return answer
  }
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => reject(signal.reason as Error))
  })
}

describe('a pipeline', () => {
  it('is created once for a dependency, and runs every call to it', async () => {
    const answer = failing(1, 'paid')
    const charge: (order: string, attempt: Pick<Attempt, 'signal' | 'idempotencyKey'>) => Promise<string> = (
      _,
      attempt,
    ) => answer(attempt as Attempt)
    const order = 'order-17'
    // #region first
    const payments = pipeline({
      name: 'payments',
      retry: { totalBudgetMs: 5_000 },
      breaker: {},
      bulkhead: { limit: 20 },
    })

    const receipt = await payments.run(({ signal, idempotencyKey }) => charge(order, { signal, idempotencyKey }))
    // #endregion
    assert.equal(receipt, 'paid')
  })

  it('asks the breaker before every attempt, and tells it once how the operation ended', async () => {
    const payments = pipeline({ name: 'payments', retry: { maxAttempts: 3 }, breaker: { minCalls: 2 } })
    await assert.rejects(payments.run(down), { status: 503 })
    assert.equal(payments.partsOf().breaker!.phase, 'closed')
    await assert.rejects(payments.run(down), { status: 503 })
    assert.equal(payments.partsOf().breaker!.phase, 'open')
  })

  it('gives its slot back while it waits', async () => {
    const payments = pipeline({ name: 'payments', retry: {}, bulkhead: { limit: 1, maxQueued: 0 } })
    const waiting = payments.run(failing(1, 'first'))
    await Promise.resolve()
    assert.equal(await payments.run(() => 'second'), 'second')
    assert.equal(await waiting, 'first')
  })

  it('charges every attempt to the rate limit', async () => {
    const maps = pipeline({ name: 'maps', retry: {}, rateLimit: { perSecond: 0.001, burst: 2, maxQueued: 0 } })
    let calls = 0
    await assert.rejects(
      maps.run(() => {
        calls++
        return down()
      }),
      { status: 503 },
    )
    assert.equal(calls, 2, 'the third attempt has no token')
  })

  it('has a state of its own for each key', async () => {
    const get: (url: string, options: { signal: AbortSignal }) => Promise<string> = async url =>
      url.includes('bad') ? down() : 'ok'
    // #region keys
    const hooks = pipeline({ name: 'webhooks', retry: { maxAttempts: 1 }, breaker: { minCalls: 5 } })

    const deliver = (url: string) => hooks.for(new URL(url).host).run(({ signal }) => get(url, { signal }))
    // #endregion
    for (let n = 0; n < 5; n++) await assert.rejects(deliver('https://bad.example/hook'), { status: 503 })
    // #region parts
    assert.equal(hooks.for('bad.example').parts.breaker!.phase, 'open')
    await assert.rejects(deliver('https://bad.example/hook'), RefusedError) // nothing was sent
    assert.equal(await deliver('https://good.example/hook'), 'ok')
    // #endregion
    assert.equal(hooks.keyCount, 2)
  })

  it('may share a budget with others', async () => {
    // #region budget
    const budget = createBudget({ kind: 'ratio', ratio: 0.1, windowMs: 10_000, minRetries: 10 })

    const charges = pipeline({ name: 'charges', retry: {}, budget })
    const refunds = pipeline({ name: 'refunds', retry: {}, budget })
    // #endregion
    assert.equal(charges.partsOf().budget, refunds.for('eu').parts.budget)
  })

  it('goes around a function', async () => {
    const answer = failing(1, undefined)
    const queryDatabase = async (id: number): Promise<string> => {
      await answer(undefined as never)
      return `user ${id}`
    }
    // #region wrap
    const users = pipeline({ name: 'users', retry: {} })

    const readUser = users.wrap(async (id: number) => queryDatabase(id))
    const user = await readUser(42)
    // #endregion
    assert.equal(user, 'user 42')
  })
})

describe('what a pipeline knows', () => {
  it('can be explained', () => {
    // #region explain
    const { sentence, maxCalls, layers } = pipeline({
      name: 'payments',
      retry: { totalBudgetMs: 5_000, attemptTimeoutMs: 2_000 },
      breaker: {},
      bulkhead: {},
    }).explain()

    assert.equal(maxCalls, 3)
    assert.equal(
      sentence,
      '3 attempts, each within 100 ms, 200 ms of the one before, at most 2 s long and all within 5 s; then the last error',
    )
    assert.deepEqual(
      layers.map(({ name }) => name),
      ['deadline', 'kill switch', 'breaker', 'bulkhead', 'retry', 'budget', 'attempt time-out'],
    )
    // #endregion
  })

  it('survives a restart', async () => {
    const storage = new Map<string, string>()
    const retry = { maxAttempts: 1 }
    const breaker = { minCalls: 2 }
    const payments = pipeline({ name: 'payments', retry, breaker })
    for (let n = 0; n < 2; n++) await assert.rejects(payments.run(down), { status: 503 })
    // #region snapshot
    storage.set('payments', JSON.stringify(payments.snapshot()))

    const restarted = pipeline({ name: 'payments', retry, breaker })
    restarted.restore(JSON.parse(storage.get('payments')!))
    // #endregion
    assert.equal(restarted.partsOf().breaker!.phase, 'open')
  })

  it('survives other numbers', async () => {
    const payments = pipeline({ name: 'payments', retry: { maxAttempts: 3 }, breaker: { minCalls: 2 }, bulkhead: {} })
    const { breaker, bulkhead } = payments.partsOf()
    breaker!.forceOpen()
    // #region update
    payments.update({ retry: { maxAttempts: 2 }, bulkhead: undefined })
    // #endregion
    assert.deepEqual([payments.policy.retry.maxAttempts, payments.policy.bulkhead], [2, undefined])
    assert.equal(payments.partsOf().breaker!.phase, 'forced-open')
    assert.notEqual(bulkhead, payments.partsOf().bulkhead)
  })

  it('is a document that can be kept elsewhere', () => {
    const file = '{ "name": "payments", "retry": { "maxAttempts": 2 }, "breaker": { "openMs": 10000 } }'
    // #region document
    const { policy, problems } = checkPolicy(JSON.parse(file))
    // #endregion
    assert.equal(problems, undefined)
    assert.ok('breaker' in policy)
    assert.equal(pipeline(policy).policy.breaker!.openMs, 10_000)
  })
})

describe('around the calls', () => {
  it('a cache answers before anything is called, and for a while when the call fails', async () => {
    let isDown = false
    let calls = 0
    const loadRates = async (): Promise<string> => {
      calls++
      return isDown ? down() : 'rates'
    }
    // #region cache
    const rates = pipeline({ name: 'rates', retry: {}, cache: { ttlMs: 60_000, staleMs: 3_600_000 } })

    const readRates = (currency: string) => rates.run(() => loadRates(), { cacheKey: currency })
    // #endregion
    assert.deepEqual([await readRates('EUR'), await readRates('EUR'), calls], ['rates', 'rates', 1])
    isDown = true
    await sleep(60_001)
    assert.equal(await readRates('EUR'), 'rates')
    assert.equal(calls, 4)
    await assert.rejects(readRates('CHF'), { status: 503 })
  })

  it('a cache does not merge calls that miss together', async () => {
    let calls = 0
    const rates = pipeline({ name: 'rates', retry: {}, cache: {} })
    const read = (): Promise<number> => rates.run(async () => ++calls, { cacheKey: 'EUR' })
    assert.deepEqual(await Promise.all([read(), read()]), [1, 2])
  })

  it('a fallback answers for what failed, and is told why', async () => {
    const suggest = down
    // #region fallback
    const suggestions = pipeline({
      name: 'suggestions',
      retry: { maxAttempts: 2, totalBudgetMs: 300 },
      breaker: {},
      fallback: ({ error, history }) => {
        if (history?.failures.at(-1)?.unknown) throw error // a bug is not hidden behind an answer
        return []
      },
    })

    const found: string[] = await suggestions.run(() => suggest())
    // #endregion
    assert.deepEqual(found, [])
    const bug = new TypeError('not a function')
    await assert.rejects(
      suggestions.run(() => Promise.reject(bug)),
      bug,
    )
  })

  it('a refresh renews what all were refused for, once', async () => {
    let token = 'old'
    let logins = 0
    const login = async (): Promise<string> => {
      logins++
      await sleep(50)
      return 'new'
    }
    const get = async (_: string, given: string): Promise<string> => {
      await sleep(10)
      if (given === 'old') throw Object.assign(new Error('unauthorized'), { status: 401 })
      return 'report'
    }
    // #region refresh
    const reports = pipeline({
      name: 'reports',
      retry: {},
      refresh: async () => {
        token = await login()
      },
    })

    const read = (path: string) => reports.run(() => get(path, token)) // the token of the moment
    // #endregion
    assert.deepEqual(await Promise.all([read('/a'), read('/b')]), ['report', 'report'])
    assert.equal(logins, 1)
  })

  it('a time-out learns from the calls that succeeded', async () => {
    const index = { find: (ms: number, { signal }: { signal: AbortSignal }) => sleep(ms, signal).then(() => 'found') }
    // #region adaptive
    const search = pipeline({
      name: 'search',
      retry: { maxAttempts: 1, attemptTimeoutMs: 10_000 },
      adaptiveTimeout: true,
    })

    const find = (words: number) => search.run(({ signal }) => index.find(words, { signal }))
    // #endregion
    for (let n = 0; n < 100; n++) await find(200)
    const startedAt = performance.now()
    await assert.rejects(find(9_000), { code: 'attempt-timeout' })
    const tookMs = performance.now() - startedAt
    assert.ok(tookMs > 380 && tookMs < 450, `${tookMs}`)
  })

  it('a hedge gives company to a call that is slow, on the word that it may be made twice', async () => {
    const begun: number[] = []
    let ms = 20
    const lookUp = async (id: number, { signal }: { signal: AbortSignal }): Promise<string> => {
      const isFirst = begun.push(performance.now()) % 2 === 1
      await sleep(isFirst ? ms : 20, signal)
      return `item ${id}`
    }
    // #region hedge
    const catalogue = pipeline({ name: 'catalogue', retry: {}, hedge: {}, idempotent: true })

    const item = (id: number) => catalogue.run(({ signal }) => lookUp(id, { signal }))
    // #endregion
    for (let n = 0; n < 20; n++) await item(n)
    assert.equal(begun.length, 20, 'nobody is slow, nobody has company')
    ms = 5_000
    const startedAt = performance.now()
    assert.equal(await item(1), 'item 1')
    assert.equal(begun.length, 22)
    assert.ok(performance.now() - startedAt < 100)
  })
})

describe('what makes no sense', () => {
  it('is refused when the pipeline is made, all of it at once', () => {
    // #region refused
    const make = () =>
      pipeline({
        name: 'payments',
        retry: { maxAttempts: 3, maxDelayMs: -1 },
        // @ts-expect-error -- the compiler says so too
        timeout: 500,
        hedge: { delayMs: 20 },
        idempotent: false,
      })
    assert.throws(make, (error: InvalidPolicyError) => {
      assert.deepEqual(
        error.problems.map(({ at }) => at),
        ['timeout', 'retry.maxDelayMs', 'hedge'],
      )
      return true
    })
    // #endregion
    assert.throws(() => pipeline({ name: 'payments', retry: {}, hedge: { delayMs: 20_000 } }), InvalidPolicyError)
    const zero = { initialDelayMs: 0, maxDelayMs: 0 }
    assert.throws(() => pipeline({ name: 'payments', retry: zero, budget: false }), InvalidPolicyError)
  })
})
