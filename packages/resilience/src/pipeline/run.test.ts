import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { createBreaker } from '../breaker/run.ts'
import { createBudget } from '../budget/run.ts'
import { InvalidPolicyError, RefusedError } from '../errors.ts'
import { killSwitch } from '../kill-switch/run.ts'
import { historyOf } from '../retry/history.ts'
import { outcomeOf, reset, scripted, STEADY } from '../retry/scripted.test-kit.ts'
import type { RetryEvent } from '../ports/telemetry.ts'
import { virtualClock } from '../testing/index.ts'
import type { PipelineDefinition } from './definition.ts'
import { pipeline } from './run.ts'

const RETRY = { ...STEADY, maxAttempts: 3 }
const TRIPS_AT_TWO = { minCalls: 2 }
const fail = (): never => {
  throw reset()
}

const failed503 = (): Error => Object.assign(new Error('busy'), { status: 503 })

describe('a pipeline', () => {
  it('retries, and returns what the call returns', async () => {
    const { clock, ports, work, calls } = scripted(reset(), 'paid')
    const payments = pipeline({ name: 'payments', retry: RETRY, ports })
    assert.deepEqual(await outcomeOf(clock, payments.run(work)), { value: 'paid' })
    assert.deepEqual(calls, [0, 100])
  })

  it('has a state of its own for each key', async () => {
    const { clock, ports } = scripted()
    const payments = pipeline({
      name: 'payments',
      retry: { ...RETRY, maxAttempts: 1 },
      breaker: TRIPS_AT_TWO,
      ports,
    })
    await outcomeOf(clock, payments.for('a').run(fail))
    await outcomeOf(clock, payments.for('a').run(fail))
    const { error } = await outcomeOf(
      clock,
      payments.for('a').run(() => 1),
    )
    assert.ok(error instanceof RefusedError)
    assert.match(error.message, /payments\/a/)
    assert.deepEqual(
      await outcomeOf(
        clock,
        payments.for('b').run(() => 1),
      ),
      { value: 1 },
    )
  })

  it('keeps a bounded number of keys, and forgets those that nobody uses', async () => {
    const { clock, ports } = scripted()
    const payments = pipeline({ name: 'payments', retry: RETRY, ports, maxKeys: 10 })
    for (let n = 0; n < 100; n++) {
      await payments.for(`key ${n}`).run(() => n)
      assert.ok(payments.keyCount <= 10)
    }
    await clock.advance(600_000)
    await payments.for('new').run(() => 1)
    await clock.advance(600_000)
    await payments.for('newer').run(() => 1)
    assert.equal(payments.keyCount, 2)
  })

  it('keeps what is in use when it makes room', async () => {
    const { clock, ports } = scripted()
    const payments = pipeline({ name: 'payments', retry: RETRY, ports, maxKeys: 10 })
    const { budget } = payments.for('often').parts
    for (let n = 0; n < 50; n++) {
      await clock.advance(1)
      await payments.for('often').run(() => n)
      await payments.for(`key ${n}`).run(() => n)
    }
    assert.equal(payments.for('often').parts.budget, budget)
  })

  it('wraps a function: same parameters, same this, same result', async () => {
    const { clock, ports } = scripted()
    const payments = pipeline({ name: 'payments', retry: RETRY, ports })
    let calls = 0
    const bank = {
      rate: 2,
      charge: payments.wrap(function (this: { rate: number }, amount: number, currency: string) {
        if (++calls === 1) throw reset()
        return `${amount * this.rate} ${currency}`
      }),
    }
    assert.deepEqual(await outcomeOf(clock, bank.charge(3, 'EUR')), { value: '6 EUR' })
    assert.equal(calls, 2)
  })

  it('tells events with its name and the key', async () => {
    const { clock, ports, work, events } = scripted(1)
    const telemetry = (event: RetryEvent): void => void events.push(event)
    const payments = pipeline({ name: 'payments', retry: RETRY, ports, telemetry })
    await outcomeOf(clock, payments.for('eu').run(work, { name: 'charge' }))
    const [{ kind, client, key, name }] = events as [RetryEvent & { client: string; key: string; name: string }]
    assert.deepEqual([kind, client, key, name], ['attempt-started', 'payments', 'eu', 'charge'])
  })

  it('asks the breaker before every attempt, and counts the operation once', async () => {
    const { clock, ports, work } = scripted(reset())
    const payments = pipeline({ name: 'payments', retry: RETRY, breaker: TRIPS_AT_TWO, ports })
    await outcomeOf(clock, payments.run(work))
    assert.equal(payments.partsOf().breaker?.phase, 'closed', 'three attempts are one event')
    await outcomeOf(clock, payments.run(work))
    assert.equal(payments.partsOf().breaker?.phase, 'open')
  })

  it('holds no slot while it waits for the next attempt', async () => {
    const { clock, ports, work } = scripted(reset(), 1)
    const payments = pipeline({ name: 'payments', retry: RETRY, bulkhead: { limit: 1 }, ports })
    const first = payments.run(work)
    await clock.advance(10)
    const { active } = payments.partsOf().bulkhead!
    assert.deepEqual([active, await payments.run(() => 'meanwhile')], [0, 'meanwhile'])
    assert.deepEqual(await outcomeOf(clock, first), { value: 1 })
  })

  it('refuses everything that is wrong with its definition at once', () => {
    const wrong = {
      name: '',
      retry: { retries: 3 },
      breker: {},
      fallback: 1,
      cache: { ttl: 5 },
      adaptiveTimeout: { multiplier: 0 },
      hedge: {},
      idempotent: false,
    }
    assert.throws(
      () => pipeline(wrong as unknown as PipelineDefinition),
      (error: unknown) => {
        assert.ok(error instanceof InvalidPolicyError)
        assert.deepEqual(error.problems.map(({ at }) => at).toSorted(), [
          'adaptiveTimeout.multiplier',
          'breker',
          'cache.ttl',
          'fallback',
          'hedge',
          'name',
          'retry.retries',
        ])
        return true
      },
    )
    assert.throws(() => pipeline(undefined as never), InvalidPolicyError)
  })

  it('rejects what is no function', async () => {
    const payments = pipeline({ name: 'payments', retry: RETRY })
    await assert.rejects(payments.run(5 as never), TypeError)
    assert.throws(() => payments.wrap(5 as never), TypeError)
    assert.throws(() => payments.for(5 as never), TypeError)
  })

  it('rejects options that a run does not have, and says which it has', async () => {
    const payments = pipeline({ name: 'payments' })
    const controller = new AbortController()
    for (const [wrong, says] of [
      [null, /takes an object of options/],
      [controller.signal, /takes an object of options/],
      [{ maxAttempts: 3 }, /no option maxAttempts; it has .*signal/],
      [{ signal: controller }, /not its controller/],
      [{ cacheKey: 'a' }, /needs a pipeline with a cache/],
    ] as const)
      await assert.rejects(
        payments.run(() => 1, wrong as never),
        says,
      )
  })

  it('says of a part that was made already where it goes', () => {
    const breaker = createBreaker()
    assert.throws(
      () => pipeline({ name: 'payments', breaker: breaker as never }),
      /breaker must be a document.*into gates/,
    )
    assert.throws(
      () => pipeline({ name: 'payments', refresh: {} as never, gates: [{} as never] }),
      /refresh must.*\n.*gates must/,
    )
  })

  it('is explained layer by layer, the outermost first', () => {
    const { layers, maxCalls } = pipeline({
      name: 'payments',
      retry: RETRY,
      breaker: {},
      bulkhead: {},
      throttle: {},
      limiter: { kind: 'gradient2' },
      rateLimit: { perSecond: 10 },
      hedge: {},
      cache: {},
      fallback: () => 1,
      refresh: () => {},
      idempotent: true,
    }).explain()
    assert.deepEqual(
      layers.map(({ name }) => name),
      [
        'fallback',
        'cache',
        'deadline',
        'kill switch',
        'breaker',
        'bulkhead',
        'retry',
        'throttle',
        'limiter',
        'rate limit',
        'budget',
        'attempt time-out',
        'hedge',
        'refresh',
      ],
    )
    assert.equal(maxCalls, 6)
  })
})

describe('the budget of a pipeline', () => {
  it('is each key’s own unless one is given that was made before', async () => {
    const clock = virtualClock()
    const own = pipeline({ name: 'own', retry: RETRY, ports: { clock } })
    assert.notEqual(own.for('a').parts.budget, own.for('b').parts.budget)
    const budget = createBudget(undefined, { clock })
    const shared = pipeline({ name: 'shared', retry: RETRY, budget, ports: { clock } })
    assert.equal(shared.for('a').parts.budget, budget)
    assert.equal(pipeline({ name: 'none', retry: RETRY, budget: false }).partsOf().budget, undefined)
  })
})

describe('replicas of a pipeline', () => {
  it('are given to the call, another one after a failure, and each copy has its own', async () => {
    const { clock, ports } = scripted()
    const reads = pipeline({
      name: 'reads',
      retry: RETRY,
      replicas: ['a', 'b'],
      hedge: { delayMs: 10, maxExtraLoad: 1 },
      idempotent: true,
      ports,
    })
    const called: string[] = []
    const failing = async (_attempt: unknown, replica: 'a' | 'b'): Promise<string> => {
      if (called.push(replica) === 1) throw reset()
      return replica
    }
    const { value } = await outcomeOf(clock, reads.run(failing))
    assert.deepEqual([called.toSorted(), value], [['a', 'b'], called[1]])
    called.length = 0
    await outcomeOf(
      clock,
      reads.run(async ({ signal }, replica) => {
        called.push(replica)
        await clock.sleep(50, signal)
      }),
    )
    assert.deepEqual(called.toSorted(), ['a', 'b'])
  })
})

describe('the kill switch', () => {
  it('reaches operations of a pipeline that wait, by its name', async () => {
    const { clock, ports, work } = scripted(reset())
    const payments = pipeline({ name: 'payments', retry: RETRY, ports })
    const result = payments
      .for('eu')
      .run(work)
      .catch((error: unknown) => historyOf(error)?.reason)
    await clock.advance(50)
    try {
      killSwitch.set({ name: 'payments', level: 'retries-off', reason: 'a storm' })
      assert.deepEqual([await result, clock.monotonic()], ['killed', 50])
    } finally {
      killSwitch.clear('all')
    }
  })
})

describe('hot changes', () => {
  it('keep what breaker and budget know, and whatever is not named', async () => {
    const { clock, ports } = scripted()
    const payments = pipeline({
      name: 'payments',
      retry: { ...RETRY, maxAttempts: 1 },
      breaker: { ...TRIPS_AT_TWO, openMs: 60_000 },
      bulkhead: { limit: 5 },
      budget: { kind: 'ratio', ratio: 0.5, windowMs: 10_000, minRetries: 5 },
      ports,
    })
    const { bulkhead } = payments.partsOf()
    await outcomeOf(clock, payments.run(fail))
    await outcomeOf(clock, payments.run(fail))
    const before = payments.partsOf().budget!
    assert.equal(before.tryWithdraw('transient'), true)
    payments.update({
      retry: { ...RETRY, maxAttempts: 7 },
      breaker: { ...TRIPS_AT_TWO, minCalls: 3, openMs: 60_000 },
      budget: { kind: 'ratio', ratio: 0.5, windowMs: 10_000, minRetries: 9 },
    })
    const parts = payments.partsOf()
    assert.equal(payments.policy.retry.maxAttempts, 7)
    assert.equal(parts.breaker?.phase, 'open')
    assert.equal(parts.breaker?.policy.minCalls, 3)
    assert.equal(parts.budget?.balance, 8)
    assert.equal(parts.bulkhead, bulkhead)
  })

  it('that lower a limit hold at once, for those who came before too', async () => {
    const { clock, ports } = scripted()
    const payments = pipeline({ name: 'payments', ports, bulkhead: { limit: 3, maxQueued: 1 } })
    const ends: (() => void)[] = []
    const hold = (): Promise<void> => new Promise(resolve => ends.push(resolve))
    const runs = [1, 2, 3].map(() => payments.run(hold))
    payments.update({ bulkhead: { limit: 1, maxQueued: 1 } })
    const fourth = payments.run(hold)
    assert.deepEqual([ends.length, payments.partsOf().bulkhead?.active], [3, 3])
    for (const end of ends) end()
    await Promise.all(runs)
    await clock.advance(0)
    assert.equal(ends.length, 4)
    ends[3]!()
    await fourth
  })

  it('that are wrong change nothing', () => {
    const payments = pipeline({ name: 'payments', retry: RETRY })
    assert.throws(() => payments.update({ breaker: { minCalls: -1 } }), InvalidPolicyError)
    assert.throws(() => pipeline({ name: 'a' }).update({ cache: {} } as never), /cache cannot be changed/)
    assert.equal(payments.policy.breaker, undefined)
  })

  it('do not disturb operations under way', async () => {
    const { clock, ports, work, calls } = scripted(reset())
    const payments = pipeline({ name: 'payments', retry: RETRY, ports })
    const result = payments.run(work)
    payments.update({ retry: { maxAttempts: 1 } })
    await outcomeOf(clock, result)
    assert.equal(calls.length, 3)
    await outcomeOf(clock, payments.run(work))
    assert.equal(calls.length, 4)
  })
})

describe('a snapshot', () => {
  it('carries breakers and learned limits over to another process', async () => {
    const { clock, ports } = scripted()
    const definition = {
      name: 'payments',
      retry: { ...RETRY, maxAttempts: 1 },
      breaker: TRIPS_AT_TWO,
      limiter: { kind: 'aimd', initialLimit: 20 },
      ports,
    } as const
    const payments = pipeline(definition)
    await outcomeOf(clock, payments.for('eu').run(fail))
    await outcomeOf(
      clock,
      payments.for('eu').run(() => Promise.reject(failed503())),
    )
    const snapshot = JSON.parse(JSON.stringify(payments.snapshot())) as ReturnType<typeof payments.snapshot>
    const other = pipeline(definition)
    other.restore(snapshot)
    const { breaker, limiter } = other.for('eu').parts
    assert.deepEqual([breaker?.phase, limiter?.limit], ['open', payments.for('eu').parts.limiter?.limit])
  })

  it('from a file that is none is refused', () => {
    const payments = pipeline({ name: 'payments', retry: RETRY, breaker: {} })
    for (const wrong of [
      null,
      {},
      { keys: [1] },
      { keys: [{ key: 'a', breaker: {} }] },
      { keys: [{ key: 'a', limit: 0 }] },
    ])
      assert.throws(() => payments.restore(wrong as never), InvalidPolicyError)
  })
})
