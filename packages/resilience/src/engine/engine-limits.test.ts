import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { ResilienceError } from '../errors.ts'
import { observe } from '../retry/report.ts'
import { virtualClock } from '../testing/virtual-clock.ts'
import { RetryEngine, RetryEngineError } from './engine.ts'

const succeed = (): boolean => true
const never = (): Promise<never> => new Promise(() => {})
const fail = (): never => {
  throw new Error('failed')
}

describe('the configuration of an engine', () => {
  it('is three attempts, 100 ms and 200 ms apart, until it is configured', async () => {
    const clock = virtualClock()
    const engine = new RetryEngine({ clock, random: () => 0.5 })
    const result = engine.execute('a', fail)
    await clock.drain()
    await result
    const start = clock.now() - 300
    assert.deepEqual(engine.getRetryTimestamps('a'), [start, start + 100, start + 300])
  })

  it('is copied when an execute starts: a later one does not reach it', async () => {
    const clock = virtualClock()
    const engine = new RetryEngine({ clock })
    engine.configure(2, 100, 2, 5_000)
    const running = engine.execute('a', fail)
    engine.configure(9, 1, 1, 1)
    await clock.drain()
    assert.equal(await running, false)
    assert.equal(engine.getAttemptCount('a'), 3)
    const next = engine.execute('b', fail)
    await clock.drain()
    await next
    assert.equal(engine.getAttemptCount('b'), 10)
  })

  it('caps an initial delay above the largest one like any other', () => {
    const engine = new RetryEngine({ clock: virtualClock(), random: () => 0.5 })
    engine.configure(1, 1_000, 2, 50)
    void engine.execute('a', fail)
    assert.equal(engine.getNextRetryDelayMs('a'), 50)
  })

  it('may have no delay at all', async () => {
    const clock = virtualClock()
    const engine = new RetryEngine({ clock })
    engine.configure(3, 0, 2, 0)
    const result = engine.execute('a', fail)
    await clock.drain()
    await result
    assert.deepEqual([engine.getAttemptCount('a'), clock.monotonic()], [4, 0])
  })

  const badNumbers: { readonly [field: string]: readonly unknown[] } = {
    maxRetries: [-1, 1.5, Number.NaN, Infinity, '3', undefined, 10_000],
    initialDelayMs: [-1, 0.5, Number.NaN, Infinity, '100', undefined],
    backoffMultiplier: [0, 0.99, -2, Number.NaN, Infinity, '2', undefined],
    maxDelayMs: [-1, 0.5, Number.NaN, Infinity, null, undefined],
  }
  for (const [field, values] of Object.entries(badNumbers))
    it(`refuses a bad ${field}, names it, and keeps what it had`, () => {
      const engine = new RetryEngine({ clock: virtualClock(), random: () => 0.5 })
      engine.configure(1, 40, 2, 5_000)
      const good = { maxRetries: 3, initialDelayMs: 100, backoffMultiplier: 2, maxDelayMs: 5_000 }
      for (const value of values) {
        const numbers = Object.values({ ...good, [field]: value }) as Parameters<RetryEngine['configure']>
        assert.throws(
          () => engine.configure(...numbers),
          error => {
            assert.ok(error instanceof RetryEngineError && error instanceof ResilienceError)
            assert.equal(error.code, 'invalid-configuration')
            assert.match(error.message, new RegExp(`\n {2}${field} must be a (?:whole )?number from .* \\(is `))
            return true
          },
        )
      }
      void engine.execute('a', fail)
      assert.equal(engine.getNextRetryDelayMs('a'), 40)
    })

  it('reports all bad numbers at once', () => {
    const engine = new RetryEngine()
    assert.throws(
      () => engine.configure(-1, -1, 0, -1),
      /maxRetries[^]*initialDelayMs[^]*backoffMultiplier[^]*maxDelayMs/,
    )
  })
})

describe('an execute for an id that is running', () => {
  it('is refused, and leaves the running one alone', async () => {
    const engine = new RetryEngine({ clock: virtualClock() })
    let end: (result: boolean) => void = () => {}
    const running = engine.execute('a', () => new Promise<boolean>(resolve => (end = resolve)))
    await assert.rejects(
      engine.execute('a', () => assert.fail('was called')),
      {
        name: 'RetryEngineError',
        code: 'operation-running',
        message: /operation "a" is running; wait for it, reset it, or use another id/,
      },
    )
    end(true)
    assert.equal(await running, true)
    assert.equal(engine.getAttemptCount('a'), 1)
  })

  it('is refused while it waits, too', async () => {
    const engine = new RetryEngine({ clock: virtualClock() })
    const waiting = engine.execute('a', fail)
    await assert.rejects(engine.execute('a', succeed), { code: 'operation-running' })
    engine.cancel('a')
    await waiting
  })
})

describe('a fault that is not the action’s', () => {
  it('is not swallowed', async () => {
    const random = (): never => {
      throw new Error('the die is broken')
    }
    const engine = new RetryEngine({ clock: virtualClock(), random })
    await assert.rejects(engine.execute('a', fail), /the die is broken/)
    assert.equal(engine.getStatus('a'), 'FAILED')
  })
})

describe('the memory of an engine', () => {
  const remembered = (engine: RetryEngine, ids: string): string =>
    Array.from(ids)
      .filter(id => engine.getAttemptCount(id) > 0 || engine.getStatus(id) !== 'PENDING')
      .join('')

  it('forgets what ended first when it is full', async () => {
    const engine = new RetryEngine({ mostOperations: 3 })
    for (const id of 'abcd') await engine.execute(id, succeed)
    assert.equal(remembered(engine, 'abcd'), 'bcd')
  })

  it('goes by the end and not by the beginning, and counts an id once however often it is used', async () => {
    const engine = new RetryEngine({ mostOperations: 3 })
    let end: (result: boolean) => void = () => {}
    const first = engine.execute('a', () => new Promise<boolean>(resolve => (end = resolve)))
    await engine.execute('b', succeed)
    await engine.execute('c', succeed)
    end(true)
    await first
    await engine.execute('b', succeed)
    await engine.execute('d', succeed)
    assert.equal(remembered(engine, 'abcd'), 'abd')
  })

  it('never forgets what is running, and refuses more when all are', async () => {
    const engine = new RetryEngine({ mostOperations: 2 })
    const results = [engine.execute('a', never), engine.execute('b', never)]
    await assert.rejects(engine.execute('c', succeed), {
      code: 'too-many-operations',
      message: /no room for operation "c": all 2 .* are running; .* larger mostOperations/,
    })
    assert.throws(() => engine.cancel('c'), { code: 'too-many-operations' })
    engine.cancel('a')
    assert.equal(await engine.execute('c', succeed), true)
    assert.equal(remembered(engine, 'abc'), 'bc')
    engine.reset('b')
    assert.deepEqual(await Promise.all(results), [false, false])
  })

  it('forgets a cancel only when nothing else has ended', async () => {
    const engine = new RetryEngine({ mostOperations: 2 })
    engine.cancel('a')
    await engine.execute('b', succeed)
    await engine.execute('c', succeed)
    assert.deepEqual([remembered(engine, 'abc'), engine.getStatus('a')], ['ac', 'CANCELLED'])
    engine.cancel('c')
    await engine.execute('d', succeed)
    assert.equal(remembered(engine, 'abcd'), 'cd')
  })

  it('does not take back what was reset while it ran', async () => {
    const engine = new RetryEngine({ mostOperations: 2 })
    const forgotten = engine.execute('a', never)
    engine.reset('a')
    assert.equal(await forgotten, false)
    assert.equal(remembered(engine, 'a'), '')
    await engine.execute('b', succeed)
    await engine.execute('c', succeed)
    assert.equal(remembered(engine, 'abc'), 'bc')
  })

  it('holds ten thousand operations unless told', async () => {
    const engine = new RetryEngine()
    for (let n = 0; n <= 10_000; n++) await engine.execute(`${n}`, succeed)
    assert.deepEqual([engine.getStatus('0'), engine.getStatus('1')], ['PENDING', 'SUCCEEDED'])
  })

  it('has a size that can be checked', () => {
    for (const mostOperations of [0, -1, 1.5, Number.NaN, Infinity])
      assert.throws(() => new RetryEngine({ mostOperations }), {
        code: 'invalid-configuration',
        message: /mostOperations/,
      })
  })
})

describe('a cancel from inside an observer', () => {
  it('ends the operation as cancelled, with no delay left', async () => {
    const clock = virtualClock()
    const engine = new RetryEngine({ clock })
    const leave = observe(event => event.kind === 'attempt-ended' && engine.cancel('a'))
    const result = engine.execute('a', fail)
    await clock.drain()
    leave()
    assert.deepEqual([await result, engine.getStatus('a'), engine.getNextRetryDelayMs('a')], [false, 'CANCELLED', 0])
  })
})
