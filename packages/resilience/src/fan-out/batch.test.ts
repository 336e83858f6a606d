import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { permanent, retryAfter, transient } from '../classify/marks.ts'
import { createBudget } from '../budget/run.ts'
import { InvalidPolicyError } from '../errors.ts'
import { outcomeOf, reset, scripted, STEADY } from '../retry/scripted.test-kit.ts'
import { expectNoLeaks, seededRandom, virtualClock } from '../testing/index.ts'
import { batch, type SendItems } from './batch.ts'

const ok = <T>(value: T): PromiseSettledResult<T> => ({ status: 'fulfilled', value })
const no = (reason: unknown): PromiseRejectedResult => ({ status: 'rejected', reason })
const BAD = permanent(new Error('bad'))
const BUSY = transient(new Error('busy'))

/** Answers for each item: first with the errors that are given for it, then with itself. */
function server(failures: { [item: string]: readonly unknown[] } = {}): {
  sent: string[]
  send: SendItems<string, string>
} {
  const left = new Map(Object.entries(failures).map(([item, errors]) => [item, [...errors]]))
  const sent: string[] = []
  return {
    sent,
    send: async items => {
      sent.push(items.join(''))
      return items.map(item => {
        const error = left.get(item)?.shift()
        return error === undefined ? ok(item) : no(error)
      })
    },
  }
}

const letters = (text: string): string[] => text.split('')

describe('batch', () => {
  it('sends chunks of at most maxItems, and answers in the order of the items', async () => {
    const { clock, ports } = scripted()
    const { send, sent } = server()
    const { value } = await outcomeOf(clock, batch(letters('abcdefg'), send, { maxItems: 3, ports }))
    assert.deepEqual(sent, ['abc', 'def', 'g'])
    assert.deepEqual(value, letters('abcdefg').map(ok))
  })

  it('has one deadline for all chunks, also when the wall clock is set meanwhile', async () => {
    for (const jumpMs of [0, -10_000, 10_000]) {
      const { clock, ports } = scripted()
      const left: number[] = []
      const send: SendItems<string, string> = async (items, { remainingMs, signal }) => {
        left.push(remainingMs)
        clock.jumpWall(jumpMs)
        await clock.sleep(100, signal)
        return items.map(ok)
      }
      const options = { maxItems: 1, deadlineAt: clock.now() + 250, ports }
      await outcomeOf(clock, batch(letters('abcd'), send, options))
      assert.deepEqual([left, clock.monotonic()], [[250, 150, 50], 250])
    }
  })

  it('sends again only the items that failed and may succeed yet, in the same order', async () => {
    const { clock, ports } = scripted()
    const { send, sent } = server({ b: [BUSY], d: [BUSY, BUSY], c: [BAD] })
    const { value } = await outcomeOf(clock, batch(letters('abcde'), send, { policy: STEADY, ports }))
    assert.deepEqual(sent, ['abcde', 'bd', 'd'])
    assert.deepEqual(value, [ok('a'), ok('b'), no(BAD), ok('d'), ok('e')])
  })

  it('leaves an item that never succeeds its own last error', async () => {
    const { clock, ports } = scripted()
    const last = transient(new Error('last'))
    const { send, sent } = server({ b: [BUSY, last] })
    const policy = { ...STEADY, maxAttempts: 2 }
    const { value } = await outcomeOf(clock, batch(letters('abc'), send, { policy, ports }))
    assert.deepEqual(
      [sent, value],
      [
        ['abc', 'b'],
        [ok('a'), no(last), ok('c')],
      ],
    )
  })

  it('waits as long as the item that asks for the longest wait', async () => {
    const { clock, ports } = scripted()
    const { send, sent } = server({
      a: [retryAfter(1_000, new Error('slow'))],
      b: [retryAfter(3_000, new Error('slower'))],
      c: [BUSY],
    })
    await outcomeOf(clock, batch(letters('abc'), send, { policy: STEADY, ports }))
    assert.deepEqual([sent, clock.monotonic()], [['abc', 'abc'], 3_300])
  })

  it('sends a whole chunk again when its call failed', async () => {
    const { clock, ports } = scripted()
    const { send, sent } = server()
    let calls = 0
    const shaky: typeof send = (items, attempt) => {
      if (++calls === 1) throw reset()
      return send(items, attempt)
    }
    const { value } = await outcomeOf(clock, batch(letters('ab'), shaky, { policy: STEADY, ports }))
    assert.deepEqual([calls, sent, value], [2, ['ab'], letters('ab').map(ok)])
  })

  it('does not heed the answer of a call that was given up', async () => {
    const { clock, ports } = scripted()
    let calls = 0
    const send: SendItems<string, string> = async items => {
      const call = ++calls
      await clock.sleep(call === 1 ? 150 : 100)
      return items.map(item => ok(`${item}${call}`))
    }
    const policy = { ...STEADY, attemptTimeoutMs: 120 }
    const { value } = await outcomeOf(clock, batch(['a'], send, { policy, ports }))
    assert.deepEqual(value, [ok('a2')])
  })

  it('lets no item overtake those before it, unless several chunks may go at once', async () => {
    for (const [concurrency, expected] of [
      [1, ['ab', 'a', 'cd']],
      [2, ['ab', 'cd', 'a']],
    ] as const) {
      const { clock, ports } = scripted()
      const { send, sent } = server({ a: [BUSY] })
      await outcomeOf(clock, batch(letters('abcd'), send, { maxItems: 2, concurrency, policy: STEADY, ports }))
      assert.deepEqual(sent, expected)
    }
  })

  it('answers with an error for every item when send does not answer for each', async () => {
    const { clock, ports } = scripted()
    const { value } = await outcomeOf(
      clock,
      batch([1, 2], () => [ok(1)], { ports }),
    )
    for (const result of value!) assert.match(String((result as PromiseRejectedResult).reason), /2 items.* for 1/)
  })

  it('refuses numbers that cannot be kept', async () => {
    const { send } = server()
    await assert.rejects(batch(['a'], send, { maxItems: 0 }), InvalidPolicyError)
    await assert.rejects(batch(['a'], send, { isolate: 'sometimes' as never }), InvalidPolicyError)
  })
})

describe('a poisoned chunk', () => {
  /** Refuses every call that has one of these in it. */
  const poisoned = (bad: string, reason: unknown): ReturnType<typeof server> => {
    const { send, sent } = server()
    return {
      sent,
      send: async (items, attempt) => {
        const answers = await send(items, attempt)
        if (items.some(item => bad.includes(item))) throw reason
        return answers
      },
    }
  }

  it('is halved until the item that spoils it is alone', async () => {
    const { clock, ports } = scripted()
    const { send, sent } = poisoned('f', BAD)
    const { value } = await outcomeOf(clock, batch(letters('abcdefgh'), send, { ports }))
    assert.deepEqual(sent, ['abcdefgh', 'abcd', 'efgh', 'ef', 'e', 'f', 'gh'])
    assert.deepEqual(
      value,
      letters('abcdefgh').map(item => (item === 'f' ? no(BAD) : ok(item))),
    )
  })

  it('is not halved while its call fails for a reason that may pass, unless that is asked for', async () => {
    for (const [isolate, calls, good] of [
      ['permanent', 2, 0],
      ['never', 2, 0],
      ['always', 2 + 1 + 2 + 1 + 2, 3],
    ] as const) {
      const { clock, ports } = scripted()
      const { send, sent } = poisoned('d', reset())
      const policy = { ...STEADY, maxAttempts: 2 }
      const { value } = await outcomeOf(clock, batch(letters('abcd'), send, { policy, isolate, ports }))
      assert.equal(sent.length, calls)
      assert.equal(value!.filter(({ status }) => status === 'fulfilled').length, good)
    }
  })

  it('is left as it is with isolate never', async () => {
    const { clock, ports } = scripted()
    const { send, sent } = poisoned('b', BAD)
    const { value } = await outcomeOf(clock, batch(letters('abc'), send, { isolate: 'never', ports }))
    assert.deepEqual([sent, value], [['abc'], [no(BAD), no(BAD), no(BAD)]])
  })

  it('is not halved on the word of a budget that answers with a promise: its items say so', async () => {
    const { clock, ports } = scripted()
    const { send, sent } = poisoned('b', BAD)
    const budget = { deposit: () => {}, tryWithdraw: (async () => true) as never, balance: 1 }
    const { value } = await outcomeOf(clock, batch(letters('abc'), send, { maxItems: 2, budget, ports }))
    assert.deepEqual(sent, ['ab', 'c'])
    const codes = value!.map(answer =>
      answer.status === 'rejected' ? (answer.reason as { code?: string }).code : 'ok',
    )
    assert.deepEqual(codes, ['invalid-answer', 'invalid-answer', 'ok'])
  })

  it('has each half paid for as a retry, and keeps its error where nothing is left to pay with', async () => {
    const { clock, ports } = scripted()
    const { send, sent } = poisoned('h', BAD)
    const budget = createBudget({ kind: 'rate', perSecond: 0.001, burst: 3 }, { clock })
    const { value } = await outcomeOf(clock, batch(letters('abcdefgh'), send, { budget, ports }))
    assert.deepEqual(sent, ['abcdefgh', 'abcd', 'efgh', 'ef'])
    assert.deepEqual(value, [...letters('abcdef').map(ok), no(BAD), no(BAD)])
  })

  it('takes no place in a budget of calls under way for longer than it has one', async () => {
    const { clock, ports } = scripted()
    const { send } = poisoned('a', BAD)
    const budget = createBudget({ kind: 'concurrent', ratio: 1, minRetries: 2 }, { clock })
    await outcomeOf(clock, batch(letters('abcd'), send, { budget, ports }))
    assert.equal(budget.balance, 2)
  })
})

describe('batch, whatever becomes of its items', () => {
  it('answers for each in its place, sends none more often than allowed, none that has ended, and leaves nothing', async () => {
    const anyItem = fc.array(fc.constantFrom(BUSY, BAD, reset()), { maxLength: 4 })
    const anyBatch = fc.record({
      items: fc.array(anyItem, { maxLength: 15 }),
      maxItems: fc.integer({ min: 1, max: 6 }),
      concurrency: fc.integer({ min: 1, max: 3 }),
      abortAt: fc.option(fc.integer({ min: 0, max: 300 }), { nil: undefined }),
      seed: fc.integer(),
    })
    await fc.assert(
      fc.asyncProperty(anyBatch, async ({ items, maxItems, concurrency, abortAt, seed }) => {
        const clock = virtualClock()
        await expectNoLeaks(
          async ({ controller }) => {
            const caller = controller()
            const sends = items.map(() => 0)
            const send: SendItems<number, number> = async (places, { signal }) => {
              assert.ok(places.length > 0 && places.length <= maxItems)
              assert.deepEqual(
                places,
                places.toSorted((a, b) => a - b),
              )
              await clock.sleep(20, signal)
              return places.map(place => {
                const error = items[place]![sends[place]!++]
                return error === undefined ? ok(place) : no(error)
              })
            }
            const options = { policy: { maxAttempts: 3 }, maxItems, concurrency, budget: false as const }
            const ports = { clock, random: seededRandom(seed) }
            const result = batch([...items.keys()], send, { ...options, signal: caller.signal, ports })
            if (abortAt !== undefined) void clock.sleep(abortAt).then(() => caller.abort())
            await clock.drain()
            const ends = await result
            assert.equal(ends.length, items.length)
            for (const [place, errors] of items.entries()) {
              const end = ends[place]!
              const mostSends = 1 + errors.findIndex(error => error === BAD)
              assert.ok(sends[place]! <= Math.min(3, mostSends || 3, errors.length + 1))
              if (end.status === 'fulfilled') assert.deepEqual([end.value, sends[place]], [place, errors.length + 1])
              else if (!caller.signal.aborted) assert.equal(end.reason, errors[sends[place]! - 1])
            }
          },
          { clock },
        )
      }),
      { numRuns: 60 },
    )
  })
})
