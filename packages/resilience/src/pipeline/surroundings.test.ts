import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { Fault } from '../classify/outcome.ts'
import { outcomeOf, reset, scripted, STEADY } from '../retry/scripted.test-kit.ts'
import { pipeline } from './run.ts'

const RETRY = { ...STEADY, maxAttempts: 2 }

describe('a fallback', () => {
  it('answers for an operation that failed, and is told why', async () => {
    const lost = reset()
    const { clock, ports, work } = scripted(lost)
    const payments = pipeline({
      name: 'payments',
      retry: RETRY,
      ports,
      fallback: ({ error, history, key }) => [error === lost, history?.reason, key],
    })
    assert.deepEqual(await outcomeOf(clock, payments.for('eu').run(work)), { value: [true, 'attempts', 'eu'] })
  })

  it('does not answer a caller who went away', async () => {
    const { clock, ports, work } = scripted(reset())
    const payments = pipeline({ name: 'payments', retry: RETRY, ports, fallback: () => 'never' })
    const controller = new AbortController()
    const result = payments.run(work, { signal: controller.signal }).catch((error: unknown) => error)
    await clock.advance(10)
    controller.abort('gone')
    assert.equal(await result, 'gone')
  })
})

describe('a cache', () => {
  it('answers before anything is called, until a result is too old', async () => {
    const { clock, ports, work, calls } = scripted('first', 'second')
    const reads = pipeline({ name: 'reads', retry: RETRY, ports, cache: { ttlMs: 1_000 } })
    const read = (): Promise<unknown> => reads.run(work, { cacheKey: 'user 1' })
    assert.deepEqual([await read(), await read(), calls.length], ['first', 'first', 1])
    await clock.advance(1_000)
    assert.equal(await read(), 'second')
  })

  it('is asked only for runs that name a key, and each pipeline key has its own results', async () => {
    const { ports, work, calls } = scripted(1)
    const reads = pipeline({ name: 'reads', retry: RETRY, ports, cache: {} })
    await reads.run(work)
    await reads.run(work)
    await reads.for('eu').run(work, { cacheKey: 'a' })
    await reads.for('us').run(work, { cacheKey: 'a' })
    assert.equal(calls.length, 4)
  })

  it('answers with an old result when the call fails, as long as that was wanted', async () => {
    const { clock, ports, work } = scripted('old', reset())
    const reads = pipeline({
      name: 'reads',
      retry: { ...RETRY, maxAttempts: 1 },
      ports,
      cache: { ttlMs: 10, staleMs: 50 },
    })
    const read = (): Promise<unknown> => reads.run(work, { cacheKey: 'a' })
    await read()
    await clock.advance(20)
    assert.deepEqual(await outcomeOf(clock, read()), { value: 'old' })
    await clock.advance(50)
    assert.ok((await outcomeOf(clock, read())).error)
  })

  it('tells keys apart however they are written', async () => {
    const { ports, work, calls } = scripted(1)
    const reads = pipeline({ name: 'reads', ports, cache: {} })
    await reads.for('a b').run(work, { cacheKey: 'c' })
    await reads.for('a').run(work, { cacheKey: 'b c' })
    assert.equal(calls.length, 2)
  })

  it('keeps neither a failure that was returned nor an answer of somebody else', async () => {
    const { clock, ports, work, calls } = scripted({ status: 503 })
    const classifyResult = (): Fault => 'permanent'
    const reads = pipeline({ name: 'reads', ports, cache: {}, classifyResult })
    await reads.run(work, { cacheKey: 'a' })
    await reads.run(work, { cacheKey: 'a' })
    const handedOver = pipeline({
      name: 'later',
      retry: { maxAttempts: 1 },
      ports,
      cache: {},
      onExhausted: () => 'later',
    })
    const failing = (): Promise<never> => {
      calls.push(0)
      return Promise.reject(reset())
    }
    for (let n = 0; n < 2; n++)
      assert.deepEqual(await outcomeOf(clock, handedOver.run(failing, { cacheKey: 'a' })), { value: 'later' })
    assert.equal(calls.length, 4)
  })

  it('has no old result for a caller who went away', async () => {
    const { clock, ports, work } = scripted('old', reset())
    const reads = pipeline({ name: 'reads', retry: RETRY, ports, cache: { ttlMs: 10, staleMs: 5_000 } })
    await reads.run(work, { cacheKey: 'a' })
    await clock.advance(20)
    const controller = new AbortController()
    const result = reads.run(work, { cacheKey: 'a', signal: controller.signal }).catch((error: unknown) => error)
    await clock.advance(10)
    controller.abort('gone')
    assert.equal(await result, 'gone')
  })

  it('that is down is as if it were empty', async () => {
    const { ports, work } = scripted('there')
    const broken = (): never => {
      throw new Error('down')
    }
    const reads = pipeline({ name: 'reads', retry: RETRY, ports, cache: { store: { get: broken, set: broken } } })
    assert.equal(await reads.run(work, { cacheKey: 'a' }), 'there')
  })

  it('keeps no more results than it may', async () => {
    const { ports, work, calls } = scripted(1)
    const reads = pipeline({ name: 'reads', retry: RETRY, ports, cache: { maxEntries: 2 } })
    for (const cacheKey of ['a', 'b', 'a', 'c', 'a', 'b']) await reads.run(work, { cacheKey })
    assert.equal(calls.length, 4, 'b had to make room for c')
  })
})

const unauthorized = (): Error => Object.assign(new Error('401'), { status: 401 })

describe('a refresh', () => {
  it('renews once for all calls that were refused together, and makes them again within the attempt', async () => {
    const { clock, ports } = scripted()
    let token = 'old'
    let renewals = 0
    const refresh = async (): Promise<void> => {
      renewals++
      await clock.sleep(10)
      token = 'new'
    }
    const calls: string[] = []
    const api = pipeline({ name: 'api', retry: RETRY, ports, refresh })
    const call = async (): Promise<string> => {
      calls.push(token)
      const used = token
      await clock.sleep(5)
      if (used === 'old') throw unauthorized()
      return used
    }
    const { value } = await outcomeOf(clock, Promise.all([api.run(call), api.run(call), api.run(call)]))
    assert.deepEqual([value, renewals, calls.length], [['new', 'new', 'new'], 1, 6])
  })

  it('is not made for a call that began before the latest one', async () => {
    const { clock, ports } = scripted()
    let token = 'old'
    let renewals = 0
    const api = pipeline({
      name: 'api',
      retry: RETRY,
      ports,
      refresh: () => {
        renewals++
        token = 'new'
      },
    })
    const call = (ms: number) => async (): Promise<string> => {
      const used = token
      await clock.sleep(ms)
      if (used === 'old') throw unauthorized()
      return used
    }
    await outcomeOf(clock, Promise.all([api.run(call(5)), api.run(call(50))]))
    assert.equal(renewals, 1)
  })

  it('that does not help leaves the refusal to the caller, and is tried once per operation', async () => {
    const { clock, ports } = scripted()
    let renewals = 0
    const refused = unauthorized()
    const api = pipeline({ name: 'api', retry: RETRY, ports, refresh: () => void renewals++ })
    const { error } = await outcomeOf(
      clock,
      api.run(() => Promise.reject(refused)),
    )
    assert.deepEqual([error, renewals], [refused, 1])
  })

  it('that fails leaves the refusal to the caller', async () => {
    const { clock, ports } = scripted()
    const refused = unauthorized()
    const refresh = (): never => {
      throw new Error('no token for you')
    }
    const api = pipeline({ name: 'api', retry: RETRY, ports, refresh })
    assert.equal(
      (
        await outcomeOf(
          clock,
          api.run(() => Promise.reject(refused)),
        )
      ).error,
      refused,
    )
  })

  it('knows a returned response too', async () => {
    const { clock, ports } = scripted()
    let status = 401
    const api = pipeline({ name: 'api', retry: RETRY, ports, refresh: () => void (status = 200) })
    const { value } = await outcomeOf(
      clock,
      api.run(async () => ({ status })),
    )
    assert.deepEqual(value, { status: 200 })
  })
})

describe('an adaptive time-out', () => {
  it('gives up what takes twice as long as nearly all others', async () => {
    const { clock, ports } = scripted()
    const api = pipeline({
      name: 'api',
      retry: { ...RETRY, maxAttempts: 1, attemptTimeoutMs: 10_000 },
      ports,
      adaptiveTimeout: { minSamples: 10, minMs: 10 },
    })
    for (let n = 0; n < 10; n++)
      await outcomeOf(
        clock,
        api.run(({ signal }) => clock.sleep(100, signal)),
      )
    const before = clock.monotonic()
    const { error } = await outcomeOf(
      clock,
      api.run(({ signal }) => clock.sleep(5_000, signal)),
    )
    const tookMs = clock.monotonic() - before
    assert.equal((error as Error).name, 'AttemptTimeoutError')
    assert.ok(tookMs >= 190 && tookMs <= 210, String(tookMs))
  })
})

describe('a refresh that takes its time', () => {
  it('is followed by no call once the attempt was given up', async () => {
    const { clock, ports } = scripted()
    const api = pipeline({ name: 'api', retry: RETRY, ports, refresh: () => clock.sleep(60) })
    const controller = new AbortController()
    let calls = 0
    const result = api.run(() => (calls++, Promise.reject(unauthorized())), { signal: controller.signal })
    const outcome = result.catch((error: unknown) => error)
    await clock.advance(20)
    controller.abort('gone')
    assert.equal(await outcome, 'gone')
    await clock.drain()
    assert.equal(calls, 1)
  })

  it('longer than an attempt is forgotten, and the next call may try again', async () => {
    const { clock, ports } = scripted()
    let renewals = 0
    const api = pipeline({
      name: 'api',
      retry: { ...RETRY, maxAttempts: 1, attemptTimeoutMs: 50 },
      ports,
      refresh: () => (++renewals === 1 ? new Promise(() => {}) : undefined),
    })
    const call = (): Promise<unknown> => (renewals === 2 ? Promise.resolve('in') : Promise.reject(unauthorized()))
    await outcomeOf(clock, api.run(call))
    assert.deepEqual(await outcomeOf(clock, api.run(call)), { value: 'in' })
    assert.equal(clock.pending, 0)
  })
})

describe('a cache store', () => {
  it('may say null for nothing', async () => {
    const { ports, work } = scripted('there')
    const store = { get: async () => null as never, set: () => {} }
    const reads = pipeline({ name: 'reads', ports, cache: { store } })
    assert.equal(await reads.run(work, { cacheKey: 'a' }), 'there')
  })

  it('that never ends writing keeps nobody from the answer', async () => {
    const { ports, work } = scripted('there')
    const store = { get: () => undefined, set: () => new Promise(() => {}) }
    assert.equal(await pipeline({ name: 'reads', ports, cache: { store } }).run(work, { cacheKey: 'a' }), 'there')
  })

  it('that hangs is one that is down, and an abort is heard meanwhile', async () => {
    const { clock, ports, work } = scripted('there')
    const store = { get: () => new Promise<never>(() => {}), set: () => {} }
    const reads = pipeline({ name: 'reads', ports, cache: { store } })
    assert.deepEqual(await outcomeOf(clock, reads.run(work, { cacheKey: 'a' })), { value: 'there' })
    const controller = new AbortController()
    const result = reads.run(work, { cacheKey: 'a', signal: controller.signal }).catch((error: unknown) => error)
    await Promise.resolve()
    controller.abort('gone')
    assert.deepEqual([await result, clock.pending], ['gone', 0])
  })
})
