import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { createBudget } from '../budget/run.ts'
import { defaultBudget } from '../budget/budget.ts'
import { DeadlineError, InvalidPolicyError } from '../errors.ts'
import { historyOf } from '../retry/history.ts'
import type { Work } from '../retry/options.ts'
import { outcomeOf, reset, scripted, STEADY } from '../retry/scripted.test-kit.ts'
import { expectNoLeaks, seededRandom, virtualClock, type VirtualClock } from '../testing/index.ts'
import { fanOut, type FanOutOptions } from './fan-out.ts'

/** A leaf that fails so often before it succeeds, each call taking its time. */
function leaf(clock: VirtualClock, failures: number, tookMs = 10): { work: Work<number>; calls: number[] } {
  const calls: number[] = []
  const work: Work<number> = async ({ signal }) => {
    const call = calls.push(clock.monotonic())
    await clock.sleep(tookMs, signal)
    if (call <= failures) throw reset()
    return call
  }
  return { work, calls }
}

function statuses(leaves: readonly PromiseSettledResult<unknown>[]): string {
  return leaves.map(({ status }) => (status === 'fulfilled' ? '+' : '-')).join('')
}

describe('fanOut', () => {
  it('makes again only the leaves that failed, and answers in their order', async () => {
    const { clock, ports } = scripted()
    const leaves = [leaf(clock, 0, 30), leaf(clock, 1, 10), leaf(clock, 0, 20)]
    const result = fanOut(
      leaves.map(({ work }) => work),
      { policy: STEADY, ports },
    )
    const { value } = await outcomeOf(clock, result)
    assert.deepEqual(value, [
      { status: 'fulfilled', value: 1 },
      { status: 'fulfilled', value: 2 },
      { status: 'fulfilled', value: 1 },
    ])
    assert.deepEqual(
      leaves.map(({ calls }) => calls),
      [[0], [0, 110], [0]],
    )
  })

  it('retries three of thirty leaves when all of them fail, and two of few', async () => {
    for (const [size, retries] of [
      [30, 3],
      [100, 10],
      [5, 2],
      [1, 2],
    ] as const) {
      const { clock, ports } = scripted()
      const leaves = Array.from({ length: size }, () => leaf(clock, Infinity))
      const result = fanOut(
        leaves.map(({ work }) => work),
        { policy: STEADY, ports },
      )
      const { value } = await outcomeOf(clock, result)
      assert.equal(leaves.flatMap(({ calls }) => calls).length, size + retries)
      // What its own share refuses is not taken from the process's.
      assert.equal(defaultBudget(clock).balance, 100 - retries)
      assert.equal(statuses(value!), '-'.repeat(size))
    }
  })

  it('spends no more than the process has left', async () => {
    const { clock, ports } = scripted()
    const shared = defaultBudget(clock)
    while (shared.balance > 1) shared.tryWithdraw('transient')
    const { work, calls } = leaf(clock, Infinity)
    const { value } = await outcomeOf(clock, fanOut([work], { policy: STEADY, ports }))
    assert.equal(calls.length, 2)
    const [only] = value!
    assert.ok(only.status === 'rejected')
    assert.equal(historyOf(only.reason)?.reason, 'budget')
  })

  it('takes a budget of its caller in place of both, or none', async () => {
    for (const [budget, calls] of [
      [createBudget({ kind: 'rate', perSecond: 1, burst: 1 }, { clock: virtualClock() }), 11],
      [false, 40],
    ] as const) {
      const { clock, ports } = scripted()
      const leaves = Array.from({ length: 10 }, () => leaf(clock, Infinity))
      const works = leaves.map(({ work }) => work)
      await outcomeOf(clock, fanOut(works, { policy: STEADY, budget, ports }))
      assert.equal(leaves.flatMap(({ calls }) => calls).length, calls)
    }
  })

  it('gives every leaf the deadline of its parent less the reserve, also those that begin late', async () => {
    const { clock, ports } = scripted()
    const left: number[] = []
    const work: Work<void> = async ({ remainingMs, signal }) => {
      left.push(remainingMs)
      await clock.sleep(400, signal)
    }
    const options = { concurrency: 1, reserveMs: 100, deadlineAt: clock.now() + 1_000, ports }
    const { value } = await outcomeOf(clock, fanOut([work, work, work, work], options))
    assert.deepEqual([left, clock.monotonic()], [[900, 500, 100], 900])
    assert.equal(statuses(value!), '++--')
    for (const leaf of value!.slice(2)) assert.ok(leaf.status === 'rejected' && leaf.reason instanceof DeadlineError)
  })

  it('ends in its time also when the wall clock is set meanwhile', async () => {
    for (const jumpMs of [-10_000, 10_000]) {
      const { clock, ports } = scripted()
      const left: number[] = []
      const work: Work<void> = async ({ remainingMs, signal }) => {
        left.push(remainingMs)
        clock.jumpWall(jumpMs)
        await clock.sleep(100, signal)
      }
      const options = { policy: { totalBudgetMs: 250 }, concurrency: 1, ports }
      await outcomeOf(clock, fanOut([work, work, work], options))
      assert.deepEqual([left, clock.monotonic()], [[200, 100], 200])
    }
  })

  it('without a deadline has that of its policy, for all leaves together', async () => {
    const { clock, ports } = scripted()
    const work: Work<number> = ({ remainingMs }) => remainingMs
    const { value } = await outcomeOf(clock, fanOut([work], { policy: { totalBudgetMs: 500 }, ports }))
    assert.deepEqual(value, [{ status: 'fulfilled', value: 450 }])
  })

  it('has enough with minSuccesses: leaves under way are cancelled, the others never begin', async () => {
    const { clock, ports } = scripted()
    const leaves = [leaf(clock, 0, 500), leaf(clock, 0, 10), leaf(clock, 0, 20), leaf(clock, 0, 10), leaf(clock, 0)]
    const options = { minSuccesses: 2, concurrency: 3, ports }
    const works = leaves.map(({ work }) => work)
    const { value } = await outcomeOf(clock, fanOut(works, options))
    assert.equal(statuses(value!), '-++--')
    assert.equal(clock.monotonic(), 20)
    assert.deepEqual(leaves.at(-1)!.calls, [])
    assert.ok(value![0]!.status === 'rejected' && value![0]!.reason.name === 'AbortError')
  })

  it('has never more leaves under way than its concurrency, and no fewer while there are any', async () => {
    const { clock, ports } = scripted()
    let underWay = 0
    const seen: number[] = []
    const work = async (): Promise<void> => {
      seen.push(++underWay)
      await clock.sleep(10)
      underWay--
    }
    await outcomeOf(clock, fanOut(Array<Work<void>>(7).fill(work), { concurrency: 3, ports }))
    assert.deepEqual([Math.max(...seen), clock.monotonic()], [3, 30])
  })

  it('calls nothing when its caller has gone already', async () => {
    const { clock, ports } = scripted()
    const { work, calls } = leaf(clock, 0)
    const reason = new Error('gone')
    const { value } = await outcomeOf(clock, fanOut([work, work], { signal: AbortSignal.abort(reason), ports }))
    assert.deepEqual(value, [
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ])
    assert.deepEqual(calls, [])
  })

  it('of nothing is nothing', async () => {
    assert.deepEqual(await fanOut([]), [])
  })

  it('refuses numbers that cannot be kept, all at once', async () => {
    const wrong: FanOutOptions = { concurrency: 0, reserveMs: -1, minSuccesses: 0.5 }
    await assert.rejects(fanOut([], wrong), (error: unknown) => {
      assert.ok(error instanceof InvalidPolicyError)
      assert.deepEqual(
        error.problems.map(({ at }) => at),
        ['concurrency', 'reserveMs', 'minSuccesses'],
      )
      return true
    })
  })
})

describe('fanOut, whatever its leaves do', () => {
  const anyLeaf = fc.record({ failures: fc.integer({ min: 0, max: 5 }), tookMs: fc.integer({ min: 0, max: 300 }) })
  const anyFanOut = fc.record({
    leaves: fc.array(anyLeaf, { maxLength: 20 }),
    concurrency: fc.integer({ min: 1, max: 8 }),
    minSuccesses: fc.integer({ min: 1, max: 30 }),
    abortAt: fc.option(fc.integer({ min: 0, max: 500 }), { nil: undefined }),
    seed: fc.integer(),
  })

  it('keeps to attempts, budget, order and deadline, answers for every leaf, and leaves nothing behind', async () => {
    await fc.assert(
      fc.asyncProperty(anyFanOut, async ({ leaves, concurrency, minSuccesses, abortAt, seed }) => {
        const clock = virtualClock()
        await expectNoLeaks(
          async ({ controller }) => {
            const caller = controller()
            const made = leaves.map(({ failures, tookMs }) => leaf(clock, failures, tookMs))
            const works = made.map(
              ({ work }, place): Work<number> =>
                async attempt => (await work(attempt), place),
            )
            const policy = { maxAttempts: 3, totalBudgetMs: 1_000 }
            const ports = { clock, random: seededRandom(seed) }
            const options = { policy, concurrency, minSuccesses, signal: caller.signal, ports }
            let endedAt = NaN
            const result = fanOut(works, options).finally(() => (endedAt = clock.monotonic()))
            if (abortAt !== undefined) void clock.sleep(abortAt).then(() => caller.abort())
            await clock.drain()
            const settled = await result
            const calls = made.map(({ calls }) => calls.length)
            const retries = calls.reduce((sum, count) => sum + Math.max(0, count - 1), 0)
            assert.equal(settled.length, leaves.length)
            assert.ok(calls.every(count => count <= 3))
            assert.ok(retries <= Math.max(2, Math.ceil(leaves.length / 10)), `${retries} retries`)
            assert.ok(endedAt <= Math.min(950, abortAt ?? Infinity))
            for (const [place, end] of settled.entries())
              assert.ok(end.status === 'rejected' || (end.value === place && calls[place]! > leaves[place]!.failures))
          },
          { clock },
        )
      }),
      { numRuns: 60 },
    )
  })
})
