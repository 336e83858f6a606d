import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { observe } from '../retry/report.ts'
import { expectNoLeaks } from '../testing/leak-check.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { virtualClock, type VirtualClock } from '../testing/virtual-clock.ts'
import { RetryEngine, type Action, type RetryEngineOptions } from './engine.ts'

const START = Date.UTC(2026, 0, 1)

interface World {
  readonly clock: VirtualClock
  readonly engine: RetryEngine
  /** Executes to the end, in no time. */
  readonly run: (id: string, action: Action) => Promise<boolean>
}

function world(options: RetryEngineOptions = {}): World {
  const clock = virtualClock()
  const engine = new RetryEngine({ clock, random: seededRandom(1), ...options })
  const run = async (id: string, action: Action): Promise<boolean> => {
    const result = engine.execute(id, action)
    await clock.drain()
    return result
  }
  return { clock, engine, run }
}

const succeed = (): boolean => true
const fail = (): never => {
  throw new Error('failed')
}
const succeedAtCall = (n: number): Action => {
  let calls = 0
  return () => (++calls < n ? fail() : true)
}

/** An action that ends when the test says so. */
class PendingAction {
  readonly #promise: Promise<unknown>
  end!: (value: unknown) => void
  throw!: (error: unknown) => void

  constructor() {
    this.#promise = new Promise((resolve, reject) => {
      this.end = resolve
      this.throw = reject
    })
  }

  readonly action: Action = () => this.#promise
}

function gaps(timestamps: readonly number[]): number[] {
  return timestamps.slice(1).map((at, index) => at - timestamps[index]!)
}

function assertWithinTenPercent(actual: readonly number[], expected: readonly number[]): void {
  assert.equal(actual.length, expected.length)
  for (const [index, ms] of expected.entries())
    assert.ok(Math.abs(actual[index]! - ms) <= ms * 0.1, `${actual[index]} ms is not ${ms} ms ± 10 %`)
}

describe('the eleven checks of a retry engine', () => {
  it('testSuccessOnFirstAttempt', async () => {
    const { engine, run } = world()
    assert.equal(await run('a', succeed), true)
    assert.equal(engine.getAttemptCount('a'), 1)
    assert.equal(engine.getStatus('a'), 'SUCCEEDED')
  })

  it('testSuccessAfterRetries', async () => {
    const { engine, run } = world()
    engine.configure(5, 100, 2, 5_000)
    assert.equal(await run('a', succeedAtCall(3)), true)
    assert.equal(engine.getAttemptCount('a'), 3)
    assert.equal(engine.getStatus('a'), 'SUCCEEDED')
  })

  it('testExhaustRetries', async () => {
    const { engine, run } = world()
    engine.configure(3, 100, 2, 5_000)
    assert.equal(await run('a', fail), false)
    assert.equal(engine.getAttemptCount('a'), 4)
    assert.equal(engine.getStatus('a'), 'FAILED')
  })

  it('testExponentialBackoff', async () => {
    const { engine, run } = world()
    engine.configure(3, 100, 2, 5_000)
    await run('a', fail)
    const timestamps = engine.getRetryTimestamps('a')
    assert.equal(timestamps[0], START)
    assertWithinTenPercent(gaps(timestamps), [100, 200, 400])
  })

  it('testMaxDelayCap', async () => {
    const { engine, run } = world()
    engine.configure(10, 100, 10, 500)
    await run('a', fail)
    const delays = gaps(engine.getRetryTimestamps('a'))
    assertWithinTenPercent(delays, [100, ...Array.from({ length: 9 }, () => 500)])
    assert.ok(Math.max(...delays) <= 550)
  })

  it('testJitterApplied', async () => {
    const { clock, engine } = world()
    engine.configure(1, 1_000, 1, 5_000)
    const ids = Array.from({ length: 20 }, (_, n) => `operation ${n}`)
    const results = ids.map(id => engine.execute(id, fail))
    await clock.advance(0)
    const delays = ids.map(id => engine.getNextRetryDelayMs(id))
    assertWithinTenPercent(
      delays,
      ids.map(() => 1_000),
    )
    assert.ok(new Set(delays).size > 10)
    await clock.drain()
    await Promise.all(results)
  })

  it('testCancel', async () => {
    const { clock, engine } = world()
    engine.configure(5, 1_000, 2, 5_000)
    const result = engine.execute('a', fail)
    await clock.advance(10)
    engine.cancel('a')
    assert.equal(await result, false)
    await clock.drain()
    assert.equal(engine.getStatus('a'), 'CANCELLED')
    assert.equal(engine.getAttemptCount('a'), 1)
  })

  it('testReset', async () => {
    const { engine, run } = world()
    await run('a', fail)
    engine.reset('a')
    assert.deepEqual(stateOf(engine, 'a'), ['PENDING', 0, null, 0, []])
  })

  it('testConcurrentExecutions', async () => {
    const { clock, engine } = world()
    engine.configure(5, 100, 2, 5_000)
    const results = [1, 2, 3, 4, 5].map(n => engine.execute(`${n}`, succeedAtCall(n)))
    await clock.drain()
    assert.deepEqual(await Promise.all(results), [true, true, true, true, true])
    assert.deepEqual(
      [1, 2, 3, 4, 5].map(n => engine.getAttemptCount(`${n}`)),
      [1, 2, 3, 4, 5],
    )
  })

  it('testZeroRetries', async () => {
    const { engine, run } = world()
    engine.configure(0, 100, 2, 5_000)
    assert.equal(await run('a', fail), false)
    assert.equal(engine.getAttemptCount('a'), 1)
    assert.equal(engine.getStatus('a'), 'FAILED')
  })

  it('testGetLastError', async () => {
    const { engine, run } = world()
    engine.configure(2, 100, 2, 5_000)
    let calls = 0
    await run('a', () => {
      throw new Error(`failure ${++calls}`)
    })
    assert.equal(engine.getLastError('a'), 'failure 3')
  })
})

function stateOf(engine: RetryEngine, id: string): unknown[] {
  return [
    engine.getStatus(id),
    engine.getAttemptCount(id),
    engine.getLastError(id),
    engine.getNextRetryDelayMs(id),
    engine.getRetryTimestamps(id),
  ]
}

describe('an action', () => {
  it('is called at once the first time', () => {
    const { engine } = world()
    let calls = 0
    void engine.execute('a', () => ++calls)
    assert.equal(calls, 1)
  })

  it('may be synchronous, asynchronous or any thenable', async () => {
    const { engine, run } = world()
    const thenable = { ['then' as const]: (resolve: (value: boolean) => void): void => resolve(true) }
    assert.equal(await run('sync', succeed), true)
    assert.equal(await run('async', () => Promise.resolve(true)), true)
    assert.equal(await run('thenable', () => thenable), true)
    assert.equal(await run('rejects', () => Promise.reject(new Error('async failure'))), false)
    assert.equal(engine.getLastError('rejects'), 'async failure')
  })

  it('fails by being false, also asynchronously; everything else is success', async () => {
    const { engine, run } = world()
    engine.configure(1, 10, 2, 5_000)
    assert.equal(await run('false', () => false), false)
    assert.equal(await run('async false', () => Promise.resolve(false)), false)
    assert.equal(engine.getAttemptCount('async false'), 2)
    for (const value of [undefined, null, 0, '', 'text']) assert.equal(await run(`${value}`, () => value), true)
  })

  it('that is false leaves the last error as it was', async () => {
    const { engine, run } = world()
    engine.configure(2, 10, 2, 5_000)
    await run('only false', () => false)
    assert.equal(engine.getLastError('only false'), null)
    let calls = 0
    await run('thrown first', () => (++calls === 1 ? fail() : false))
    assert.deepEqual([engine.getLastError('thrown first'), engine.getAttemptCount('thrown first')], ['failed', 3])
  })

  it('may throw anything: it is retried, and its text is read as the last error', async () => {
    const { engine, run } = world()
    engine.configure(1, 10, 2, 5_000)
    const texts: [thrown: unknown, text: string][] = [
      ['a text', 'a text'],
      [undefined, 'undefined'],
      [null, 'null'],
      [7, '7'],
      [false, 'false'],
      [{ message: 'of an object' }, 'of an object'],
      [new TypeError('a bug'), 'a bug'],
      [Object.create(null), 'an error that has no text'],
    ]
    for (const [thrown, text] of texts) {
      const throwIt = (): never => {
        throw thrown
      }
      assert.equal(await run(text, throwIt), false)
      assert.deepEqual([engine.getLastError(text), engine.getAttemptCount(text)], [text, 2])
    }
  })

  it('is retried whatever its error says: nothing is classified', async () => {
    const { engine, run } = world()
    engine.configure(1, 10, 2, 5_000)
    const notFound = (): never => {
      throw Object.assign(new Error('not found'), { status: 404 })
    }
    await run('a', notFound)
    assert.equal(engine.getAttemptCount('a'), 2)
  })

  it('may take hours, and so may its waits: nothing but the retries limits an operation', async () => {
    const { clock, engine, run } = world()
    engine.configure(2, 36_000_000, 2, 72_000_000)
    let calls = 0
    const slow = async (): Promise<boolean> => {
      await clock.sleep(3_600_000)
      return ++calls === 3
    }
    assert.equal(await run('a', slow), true)
    assert.ok(clock.monotonic() > 100_000_000)
  })
})

describe('the state of an operation', () => {
  it('can be read at every step: pending, retrying while it waits and calls again, and how it ended', async () => {
    const { clock, engine } = world({ random: () => 0.5 })
    engine.configure(3, 100, 2, 5_000)
    const second = new PendingAction()
    let calls = 0
    const result = engine.execute('a', () => (++calls === 1 ? fail() : second.action()))
    assert.equal(engine.getNextRetryDelayMs('a'), 100)
    assert.deepEqual(stateOf(engine, 'a'), ['RETRYING', 1, 'failed', 100, [START]])
    await clock.advance(100)
    assert.deepEqual(stateOf(engine, 'a'), ['RETRYING', 2, 'failed', 0, [START, START + 100]])
    second.end(true)
    assert.equal(await result, true)
    assert.deepEqual(stateOf(engine, 'a'), ['SUCCEEDED', 2, 'failed', 0, [START, START + 100]])
  })

  it('is pending during the first attempt', async () => {
    const { engine } = world()
    const { action, end } = new PendingAction()
    const result = engine.execute('a', action)
    assert.deepEqual(stateOf(engine, 'a'), ['PENDING', 1, null, 0, [START]])
    end(true)
    await result
  })

  it('shows the delay with its jitter, and it is the one that is kept', async () => {
    const { clock, engine } = world()
    engine.configure(1, 1_000, 2, 5_000)
    const result = engine.execute('a', fail)
    const delayMs = engine.getNextRetryDelayMs('a')
    await clock.drain()
    await result
    assert.deepEqual(gaps(engine.getRetryTimestamps('a')), [delayMs])
    assert.equal(engine.getNextRetryDelayMs('a'), 0)
  })

  it('spans ten per cent to both sides, and no more', async () => {
    for (const [roll, expected] of [
      [0, 900],
      [0.5, 1_000],
      [0.999_999, 1_100],
    ] as const) {
      const { engine } = world({ random: () => roll })
      engine.configure(1, 1_000, 2, 5_000)
      void engine.execute('a', fail)
      assert.equal(engine.getNextRetryDelayMs('a'), expected)
    }
  })

  it('is that of a reset operation for an id that nobody has used', () => {
    assert.deepEqual(stateOf(world().engine, 'never seen'), ['PENDING', 0, null, 0, []])
  })

  it('is given out as a copy', async () => {
    const { engine, run } = world()
    await run('a', succeed)
    engine.getRetryTimestamps('a').push(0)
    assert.deepEqual(engine.getRetryTimestamps('a'), [START])
  })

  it('begins anew when an operation that has ended is executed again', async () => {
    const { engine, run } = world()
    await run('a', fail)
    const again = run('a', succeed)
    assert.deepEqual([engine.getAttemptCount('a'), engine.getLastError('a')], [1, null])
    assert.equal(await again, true)
    assert.deepEqual([engine.getStatus('a'), engine.getRetryTimestamps('a').length], ['SUCCEEDED', 1])
  })

  it('is independent of every other operation', async () => {
    const { clock, engine } = world()
    engine.configure(2, 100, 2, 5_000)
    const failing = engine.execute('failing', fail)
    const cancelled = engine.execute('cancelled', fail)
    const hanging = engine.execute('hanging', new PendingAction().action)
    engine.cancel('cancelled')
    await clock.drain()
    assert.deepEqual([await failing, await cancelled, engine.getAttemptCount('failing')], [false, false, 3])
    assert.deepEqual(
      ['failing', 'cancelled', 'hanging'].map(id => engine.getStatus(id)),
      ['FAILED', 'CANCELLED', 'PENDING'],
    )
    engine.cancel('hanging')
    assert.equal(await hanging, false)
  })
})

describe('cancelling', () => {
  it('ends a wait at once, and leaves nothing behind', async () => {
    const { clock, engine } = world()
    await expectNoLeaks(
      async () => {
        const result = engine.execute('a', fail)
        engine.cancel('a')
        assert.deepEqual([engine.getStatus('a'), engine.getNextRetryDelayMs('a')], ['CANCELLED', 0])
        assert.equal(await result, false)
        assert.equal(clock.monotonic(), 0)
      },
      { clock },
    )
  })

  it('does not wait for an action that is running, whose end then changes nothing', async () => {
    for (const endIt of [
      ({ end }: PendingAction): void => end(true),
      ({ end }: PendingAction): void => end(false),
      (action: PendingAction): void => action.throw(new Error('late')),
    ]) {
      const { clock, engine } = world()
      const pending = new PendingAction()
      const result = engine.execute('a', pending.action)
      engine.cancel('a')
      assert.equal(engine.getStatus('a'), 'CANCELLED')
      assert.equal(await result, false)
      endIt(pending)
      await clock.drain()
      assert.deepEqual(stateOf(engine, 'a'), ['CANCELLED', 1, null, 0, [START]])
    }
  })

  it('holds whatever the action comes to in the same breath', async () => {
    for (const outcome of [succeed, (): boolean => false, fail]) {
      const { engine, run } = world()
      const cancelling = (): unknown => {
        engine.cancel('a')
        return outcome()
      }
      assert.equal(await run('a', cancelling), false)
      assert.deepEqual([engine.getStatus('a'), engine.getAttemptCount('a')], ['CANCELLED', 1])
    }
  })

  it('holds also when an observer of the wait does it', async () => {
    const { engine, run } = world()
    const unobserve = observe(event => {
      if (event.kind === 'retry-scheduled') engine.cancel('a')
    })
    assert.equal(await run('a', fail), false)
    unobserve()
    assert.deepEqual([engine.getStatus('a'), engine.getAttemptCount('a')], ['CANCELLED', 1])
  })

  it('holds until reset: no execute makes an attempt before', async () => {
    const { engine, run } = world()
    engine.cancel('a')
    assert.deepEqual(stateOf(engine, 'a'), ['CANCELLED', 0, null, 0, []])
    assert.equal(await run('a', () => assert.fail('was called')), false)
    assert.deepEqual(stateOf(engine, 'a'), ['CANCELLED', 0, null, 0, []])
    engine.reset('a')
    assert.equal(await run('a', succeed), true)
  })

  it('that comes too late does not unsay how the operation ended, but holds for the next one', async () => {
    const { engine, run } = world()
    await run('a', succeed)
    engine.cancel('a')
    assert.equal(engine.getStatus('a'), 'SUCCEEDED')
    assert.equal(await run('a', () => assert.fail('was called')), false)
    assert.equal(engine.getStatus('a'), 'CANCELLED')
  })

  it('can be done twice', async () => {
    const { engine } = world()
    const result = engine.execute('a', fail)
    engine.cancel('a')
    engine.cancel('a')
    assert.equal(await result, false)
  })
})

describe('resetting', () => {
  it('a running operation cancels it, and its id is free at once', async () => {
    const { clock, engine } = world()
    const pending = new PendingAction()
    const first = engine.execute('a', pending.action)
    engine.reset('a')
    assert.deepEqual(stateOf(engine, 'a'), ['PENDING', 0, null, 0, []])
    const second = engine.execute('a', fail)
    pending.throw(new Error('of the first'))
    assert.equal(await first, false)
    await clock.drain()
    assert.equal(await second, false)
    assert.deepEqual([engine.getStatus('a'), engine.getLastError('a')], ['FAILED', 'failed'])
  })

  it('an id that nobody has used changes nothing', () => {
    const { engine } = world()
    engine.reset('a')
    assert.deepEqual(stateOf(engine, 'a'), ['PENDING', 0, null, 0, []])
  })
})
