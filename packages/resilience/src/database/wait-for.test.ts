import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { DeadlineError, type InvalidPolicyError } from '../errors.ts'
import { nextTurn } from '../ports/turn.ts'
import { delayRange } from '../retry/backoff.ts'
import type { RetryPolicyInput } from '../retry/policy.ts'
import { outcomeOf, reset, scripted } from '../retry/scripted.test-kit.ts'
import { expectNoLeaks, seededRandom, virtualClock } from '../testing/index.ts'
import { DEFAULT_WAIT } from './policy.ts'
import { waitFor, type Subscribe } from './wait-for.ts'

const STEADY_LOOKS = { initialDelayMs: 100, jitterType: 'NONE' } as const

/** A source that tells when something has changed. */
function source(): { subscribe: Subscribe; notify: () => void; subscribers: () => number } {
  const listeners = new Set<() => void>()
  return {
    subscribe: notify => {
      listeners.add(notify)
      return () => listeners.delete(notify)
    },
    notify: () => {
      for (const listener of listeners) listener()
    },
    subscribers: () => listeners.size,
  }
}

describe('waitFor, where nobody notifies', () => {
  it('looks at once, then after 100, 200 and 400 ms, and returns what is true', async () => {
    const { clock, ports, work, calls } = scripted(false, 0, null, 'the lock')
    const { value } = await outcomeOf(clock, waitFor(work, { policy: STEADY_LOOKS, ports }))
    assert.deepEqual([value, calls], ['the lock', [0, 100, 300, 700]])
  })

  it('waits within the ranges of its policy, by default 25 to 50 ms at first and never more than a second', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async seed => {
        const { clock, work, calls } = scripted(false)
        await outcomeOf(clock, waitFor(work, { ports: { clock, random: seededRandom(seed) } }))
        const waits = calls.slice(1).map((at, n) => at - calls[n]!)
        assert.ok(waits.length > 30)
        for (const [n, wait] of waits.entries()) {
          const { minMs, maxMs } = delayRange(DEFAULT_WAIT, { attempt: n + 1, previousDelayMs: 0 })
          assert.ok(wait >= minMs && wait <= maxMs && wait <= 1_000, `wait ${n}: ${wait}`)
        }
      }),
      { numRuns: 20 },
    )
  })

  it('ends with DeadlineError as soon as no further look would be in time', async () => {
    const { clock, ports, work, calls } = scripted(false)
    const result = waitFor(work, { policy: STEADY_LOOKS, totalBudgetMs: 500, ports })
    const { error } = await outcomeOf(clock, result)
    assert.ok(error instanceof DeadlineError)
    assert.deepEqual([calls, clock.monotonic()], [[0, 100, 300], 300])
  })

  it('heeds deadlineAt where that is earlier, and looks at nothing when it has passed', async () => {
    const { clock, ports, work, calls } = scripted(false)
    const options = { policy: STEADY_LOOKS, totalBudgetMs: 5_000, ports }
    await outcomeOf(clock, waitFor(work, { ...options, deadlineAt: clock.now() + 200 }))
    assert.deepEqual(calls, [0, 100])
    const { error } = await outcomeOf(clock, waitFor(work, { ...options, deadlineAt: clock.now() }))
    assert.ok(error instanceof DeadlineError)
    assert.equal(calls.length, 2)
  })

  it('takes one end of the range alone, and the other makes room for it', async () => {
    for (const [range, expected] of [
      [{ maxDelayMs: 10 }, [0, 10, 20, 30]],
      [{ initialDelayMs: 2_000 }, [0, 2_000, 4_000, 6_000]],
      [{ initialDelayMs: 600, maxDelayMs: undefined }, [0, 600, 1_600, 2_600]],
      [{ backoffType: 'CUSTOM', delaysMs: [3_000] }, [0, 3_000, 6_000, 9_000]],
    ] as const) {
      const { clock, ports, work, calls } = scripted(false, false, false, true)
      const policy = { ...range, jitterType: 'NONE' } as RetryPolicyInput
      await outcomeOf(clock, waitFor(work, { policy, ports }))
      assert.deepEqual(calls, expected)
    }
  })

  it('refuses what is wrong with its policy, and nothing else', async () => {
    const policy = { maxDelayMs: 'soon' } as unknown as RetryPolicyInput
    await assert.rejects(
      waitFor(() => true, { policy }),
      (error: unknown) => {
        assert.deepEqual(
          (error as InvalidPolicyError).problems.map(({ at }) => at),
          ['maxDelayMs'],
        )
        return true
      },
    )
  })

  it('retries a look that fails and may pass, and throws what will not', async () => {
    const mine = new Error('mine')
    const passing = scripted(false, reset(), 'yes')
    const { value } = await outcomeOf(passing.clock, waitFor(passing.work, { policy: STEADY_LOOKS, ...passing }))
    assert.deepEqual([value, passing.calls], ['yes', [0, 100, 200]])
    const failing = scripted(false, mine)
    const { error } = await outcomeOf(failing.clock, waitFor(failing.work, { policy: STEADY_LOOKS, ...failing }))
    assert.equal(error, mine)
  })
})

describe('waitFor, where the source notifies', () => {
  it('looks once, and again only when it is told to', async () => {
    const { clock, ports, work, calls } = scripted(false, false, 'the lock')
    const { subscribe, notify, subscribers } = source()
    const result = waitFor(work, { subscribe, ports })
    await clock.advance(12_000)
    notify()
    await clock.advance(3_000)
    notify()
    assert.equal(await result, 'the lock')
    await clock.drain()
    assert.deepEqual([calls, subscribers()], [[0, 12_000, 15_000], 0])
  })

  it('misses nothing that changes between subscribing and looking, or during a look', async () => {
    const { clock, ports } = scripted()
    const { subscribe, notify } = source()
    let isFree = false
    const looks: boolean[] = []
    const look = async (): Promise<boolean> => {
      const seen = isFree
      looks.push(seen)
      await clock.sleep(10)
      // The lock is released after it was seen held, and before that is known here.
      if (!isFree) {
        isFree = true
        notify()
        notify()
      }
      return seen
    }
    const { value } = await outcomeOf(clock, waitFor(look, { subscribe, ports }))
    assert.deepEqual([value, looks], [true, [false, true]])
  })

  it('leaves others their turn, however often it is told to look again', async () => {
    for (const microtasks of [0, 50]) {
      const { clock, ports } = scripted()
      const { subscribe, notify } = source()
      let looks = 0
      let looksBeforeTurn = Infinity
      nextTurn(() => (looksBeforeTurn = looks))
      const notifyAfter = async (microtasks: number): Promise<void> => {
        for (let n = 0; n < microtasks; n++) await Promise.resolve()
        notify()
      }
      const look = (): boolean => {
        void notifyAfter(microtasks)
        return ++looks === 1_000 || looksBeforeTurn < Infinity
      }
      await outcomeOf(clock, waitFor(look, { subscribe, ports }))
      assert.ok(looksBeforeTurn <= 2, `${looksBeforeTurn} looks in one turn`)
    }
  })

  it('waits until the deadline itself, not until a look before it', async () => {
    const { clock, ports, work, calls } = scripted(false)
    const { subscribe, subscribers } = source()
    const { error } = await outcomeOf(clock, waitFor(work, { subscribe, totalBudgetMs: 700, ports }))
    assert.ok(error instanceof DeadlineError)
    assert.match(error.message, /after 700 ms/)
    assert.deepEqual([calls, clock.monotonic(), subscribers()], [[0], 700, 0])
  })

  it('ends a subscription also when it comes about after the wait has ended', async () => {
    const { clock, ports, work, calls } = scripted(true)
    const { subscribe, subscribers } = source()
    const slow: Subscribe = async notify => {
      await clock.sleep(1_000)
      return subscribe(notify)
    }
    const { error } = await outcomeOf(clock, waitFor(work, { subscribe: slow, totalBudgetMs: 100, ports }))
    assert.ok(error instanceof DeadlineError)
    assert.deepEqual([calls, clock.monotonic(), subscribers()], [[], 1_000, 0])
  })

  it('throws what subscribing threw, without trying again', async () => {
    const { clock, ports, work } = scripted(true)
    const lost = reset()
    let tries = 0
    const subscribe: Subscribe = async () => {
      tries++
      throw lost
    }
    const { error } = await outcomeOf(clock, waitFor(work, { subscribe, ports }))
    assert.deepEqual([error, tries], [lost, 1])
  })
})

describe('waitFor, however it ends', () => {
  it('leaves no alarm, no listener and no subscription', async () => {
    const anEnding = fc.record({
      notifies: fc.boolean(),
      trueAfterLooks: fc.integer({ min: 1, max: 6 }),
      notifyEveryMs: fc.integer({ min: 20, max: 400 }),
      abortAt: fc.option(fc.integer({ min: 0, max: 1_000 }), { nil: undefined }),
      throwsAtLook: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
    })
    await fc.assert(
      fc.asyncProperty(anEnding, async ({ notifies, trueAfterLooks, notifyEveryMs, abortAt, throwsAtLook }) => {
        const clock = virtualClock()
        const { subscribe, notify, subscribers } = source()
        await expectNoLeaks(
          async ({ controller }) => {
            const caller = controller()
            let looks = 0
            const look = (): boolean => {
              if (++looks === throwsAtLook) throw new Error('mine')
              return looks >= trueAfterLooks
            }
            const result = waitFor(look, {
              totalBudgetMs: 900,
              signal: caller.signal,
              ports: { clock, random: () => 0.5 },
              ...(notifies && { subscribe }),
            }).then(
              () => 'true',
              () => 'failed',
            )
            if (abortAt !== undefined) void clock.sleep(abortAt).then(() => caller.abort())
            for (let at = 0; at < 1_000; at += notifyEveryMs) {
              await clock.advance(notifyEveryMs)
              notify()
            }
            await clock.drain()
            assert.match(await result, /true|failed/)
          },
          { clock },
        )
        assert.equal(subscribers(), 0)
      }),
      { numRuns: 40 },
    )
  })

  it('rejects with the reason of the signal, at once', async () => {
    const { clock, ports, work } = scripted(false)
    const caller = new AbortController()
    const result = waitFor(work, { signal: caller.signal, subscribe: source().subscribe, ports })
    const rejected = assert.rejects(result, /enough/)
    await clock.advance(10)
    caller.abort(new Error('enough'))
    await rejected
    assert.deepEqual([clock.monotonic(), clock.pending], [10, 0])
  })
})
