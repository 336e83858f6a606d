import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { markOf } from '../classify/marks.ts'
import { faults, type FaultOptions } from './faults.ts'
import { leakCheck } from './leak-check.ts'
import { seededRandom } from './seeded-random.ts'
import { virtualClock } from './virtual-clock.ts'

const answer = (): string => 'answer'
const caught = (error: unknown): Error & { code?: string } => error as Error

describe('injected errors', () => {
  it('take the place of the call: the work is not called', async () => {
    let calls = 0
    const faulty = faults(() => ++calls, { errorRate: 1 })
    await assert.rejects(faulty())
    assert.equal(calls, 0)
  })

  it('are a lost connection by default, a new one each time, and marked as nothing', async () => {
    const faulty = faults(answer, { errorRate: 1 })
    const [first, second] = (await Promise.all([faulty().catch(caught), faulty().catch(caught)])) as [Error, Error]
    assert.deepEqual([caught(first).code, first instanceof Error, markOf(first)], ['ECONNRESET', true, undefined])
    assert.notEqual(first, second)
  })

  it('are the error that is given, or what a function makes of it', async () => {
    const error = new Error('given')
    assert.equal(await faults(answer, { errorRate: 1, error })().catch(caught), error)
    assert.equal(await faults(answer, { errorRate: 1, error: () => error })().catch(caught), error)
    assert.equal(await faults(answer, { errorRate: 1, error: 'a text' })().catch(caught), 'a text')
  })

  it('happen at their rate, and in the same calls for the same seed', async () => {
    const run = async (seed: number): Promise<boolean[]> => {
      const faulty = faults(answer, { errorRate: 0.3, random: seededRandom(seed) })
      const results = await Promise.allSettled(Array.from({ length: 2_000 }, () => faulty()))
      return results.map(({ status }) => status === 'rejected')
    }
    const failed = await run(7)
    assert.ok(Math.abs(failed.filter(Boolean).length / failed.length - 0.3) < 0.04)
    assert.deepEqual(await run(7), failed)
    assert.notDeepEqual(await run(8), failed)
  })

  it('never happen at rate 0', async () => {
    assert.equal(await faults(answer, { errorRate: 0, random: () => 0 })(), 'answer')
  })
})

describe('injected latency', () => {
  it('comes before the call', async () => {
    const clock = virtualClock()
    const faulty = faults(() => clock.monotonic(), { latencyMs: 300, clock })
    const calledAt = faulty()
    await clock.drain()
    assert.equal(await calledAt, 300)
  })

  it('lies in its range, both ends included, in whole milliseconds', async () => {
    const range = fc.tuple(fc.nat(1_000), fc.nat(1_000)).map(([from, width]) => ({ from, to: from + width }))
    const roll = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    await fc.assert(
      fc.asyncProperty(range, roll, async ({ from, to }, drawn) => {
        const clock = virtualClock()
        const calledAt = faults(() => clock.monotonic(), { latencyMs: { from, to }, clock, random: () => drawn })()
        await clock.drain()
        const ms = await calledAt
        assert.ok(Number.isInteger(ms) && ms >= from && ms <= to)
        if (drawn === 0) assert.equal(ms, from)
      }),
      { numRuns: 30 },
    )
    const clock = virtualClock()
    const slowest = faults(() => clock.monotonic(), { latencyMs: { from: 5, to: 9 }, clock, random: () => 0.999_999 })()
    await clock.drain()
    assert.equal(await slowest, 9)
  })

  it('comes before an injected error too', async () => {
    const clock = virtualClock()
    const failedAt = faults(answer, { latencyMs: 50, errorRate: 1, clock })().catch(() => clock.monotonic())
    await clock.drain()
    assert.equal(await failedAt, 50)
  })

  it('ends at once when a signal among the arguments aborts, and the call is not made', async () => {
    const clock = virtualClock()
    const check = leakCheck({ clock })
    const call = (_url: string, _options: unknown): never => assert.fail('was called')
    const faulty = faults(call, { latencyMs: 1_000, clock })
    for (const wrap of [(signal: AbortSignal): unknown => signal, (signal: AbortSignal): unknown => ({ signal })]) {
      const controller = check.controller()
      const result = faulty('url', wrap(controller.signal)).catch(caught)
      controller.abort(new Error('enough'))
      assert.equal((await result).message, 'enough')
    }
    assert.deepEqual(await check.finish(), [])
  })
})

describe('a fault window', () => {
  it('opens at `from`, shuts at `until`, both counted from the creation', async () => {
    const clock = virtualClock()
    await clock.advance(1_000)
    const faulty = faults(answer, { errorRate: 1, from: 100, until: 200, clock })
    const failed: boolean[] = []
    for (const stepMs of [0, 99, 1, 99, 1, 1_000]) {
      await clock.advance(stepMs)
      failed.push(
        await faulty().then(
          () => false,
          () => true,
        ),
      )
    }
    assert.deepEqual(failed, [false, false, true, true, false, false])
  })

  it('leaves calls outside of it alone: no wait, and no number drawn', async () => {
    const random = (): number => assert.fail('was drawn')
    const faulty = faults(answer, {
      errorRate: 1,
      latencyMs: { from: 1, to: 2 },
      from: 10,
      random,
      clock: virtualClock(),
    })
    assert.equal(await faulty(), 'answer')
  })
})

describe('work with faults', () => {
  it('keeps its parameters, its result and its own errors', async () => {
    const faulty = faults((left: number, right: number) => Promise.resolve(left / right), { errorRate: 0 })
    assert.equal(await faulty(6, 3), 2)
    const own = new Error('own')
    const failing = faults(
      () => {
        throw own
      },
      { errorRate: 0 },
    )
    assert.equal(await failing().catch(caught), own)
  })

  it('is refused with all that is wrong about its options', () => {
    const wrong =
      (options: unknown): (() => unknown) =>
      () =>
        faults(answer, options as FaultOptions)
    assert.throws(wrong(undefined), { code: 'invalid-options', message: /options must be an object/ })
    assert.throws(wrong({}), /errorRate or latencyMs must be given: there is nothing to inject/)
    assert.throws(wrong({ error: new Error('x') }), /errorRate must be given with error; 1 fails every call/)
    assert.throws(wrong({ latencyMs: { from: 5, to: 4 } }), /latencyMs must be a range { from, to } of milliseconds/)
    assert.throws(wrong({ latencyMs: { from: 5 } }), /latencyMs must be a range/)
    assert.throws(wrong({ errorRate: 1, from: 5, until: 5 }), /until must be later than from, 5/)
    assert.throws(wrong({ errorRate: 1, rate: 1 }), /rate is an unknown field/)
    assert.throws(wrong({ errorRate: 1, random: 7, clock: 7 }), /random must be a function[^]*clock must be a clock/)
    assert.throws(wrong({ errorRate: 2, latencyMs: -1, from: Number.NaN }), error => {
      const { message } = caught(error)
      assert.match(message, /errorRate must be a number from 0 to 1 \(is 2\)/)
      assert.match(message, /latencyMs must be milliseconds, 0 or more, or { from, to } \(is -1\)/)
      assert.match(message, /from must be a number/)
      return true
    })
  })
})
