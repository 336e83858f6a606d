import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { ignored, permanent } from '../classify/marks.ts'
import { SUCCESS } from '../classify/outcome.ts'
import { InvalidPolicyError } from '../errors.ts'
import type { Gate } from '../retry/companion.ts'
import { retry } from '../retry/run.ts'
import { outcomeOf, reset, scripted, STEADY } from '../retry/scripted.test-kit.ts'
import { expectNoLeaks, seededRandom, virtualClock } from '../testing/index.ts'
import { failOver, replicas } from './run.ts'

/** What was called and when; those that are down fail with what is given for them. */
function network(clock: { monotonic(): number }): {
  down: Map<string, unknown>
  calls: string[]
  call: (name: string) => Promise<string>
} {
  const down = new Map<string, unknown>()
  const calls: string[] = []
  const call = async (name: string): Promise<string> => {
    calls.push(`${name} ${clock.monotonic()}`)
    if (down.has(name)) throw down.get(name)
    return name
  }
  return { down, calls, call }
}

describe('replicas', () => {
  it('hands each attempt another replica than the one that has just failed it', async () => {
    const { clock } = scripted()
    const ports = { clock, random: () => 0 }
    const { call, calls, down } = network(clock)
    down.set('a', reset())
    const { value } = await outcomeOf(clock, replicas(['a', 'b', 'c'], { ports }).run(call, STEADY, { ports }))
    assert.deepEqual([value, calls], ['b', ['a 0', 'b 100']])
  })

  it('sets back one that failed, for the operations that follow too', async () => {
    const { clock } = scripted()
    const ports = { clock, random: () => 0 }
    const { call, down, calls } = network(clock)
    const pool = replicas({ replicas: ['a', 'b'], setBackMs: 1_000 }, { ports })
    down.set('a', reset())
    for (let n = 0; n < 3; n++) await outcomeOf(clock, pool.run(call, STEADY, { ports }))
    assert.deepEqual(calls, ['a 0', 'b 100', 'b 100', 'b 100'])
    await clock.advance(1_000)
    down.clear()
    assert.deepEqual((await outcomeOf(clock, pool.run(call, STEADY, { ports }))).value, 'a')
  })

  it('are those that were listed, whatever becomes of the list', async () => {
    const { clock } = scripted()
    const ports = { clock, random: () => 0 }
    const list = ['a', 'b']
    const pool = replicas(list, { ports })
    list.length = 0
    const { value } = await outcomeOf(
      clock,
      pool.run(name => name, STEADY, { ports }),
    )
    assert.equal(value, 'a')
  })

  it('sets back one that does not answer in time', async () => {
    const { clock } = scripted()
    const ports = { clock, random: () => 0 }
    const pool = replicas(['a', 'b'], { ports })
    const hang = async (name: string): Promise<string> => (name === 'a' ? new Promise(() => {}) : name)
    const { value } = await outcomeOf(clock, pool.run(hang, { ...STEADY, attemptTimeoutMs: 50 }, { ports }))
    assert.deepEqual([value, pool.pick().replica.name], ['b', 'b'])
  })

  it('does not set back one that answers no, nor one about which nothing was learnt', async () => {
    for (const error of [permanent(new Error('not found')), ignored(new Error('gone')), new TypeError('a bug')]) {
      const { clock } = scripted()
      const ports = { clock, random: () => 0 }
      const { call, calls, down } = network(clock)
      const pool = replicas(['a', 'b'], { ports })
      down.set('a', error)
      for (let n = 0; n < 3; n++) await outcomeOf(clock, pool.run(call, STEADY, { ports }))
      assert.deepEqual(calls, ['a 0', 'b 0', 'a 0'])
    }
  })

  it('hands over what the caller listed: a name, or anything that has one', async () => {
    const { clock } = scripted()
    const ports = { clock, random: () => 0 }
    const north = { name: 'north', region: 'europe', get: () => 'from the north' }
    const { value } = await outcomeOf(
      clock,
      replicas([north], { ports }).run(replica => replica.get(), {}, { ports }),
    )
    assert.equal(value, 'from the north')
  })

  it('can be a gate of any operation, whose work asks it where to go', async () => {
    const { clock } = scripted()
    const ports = { clock, random: () => 0 }
    const { call, calls, down } = network(clock)
    const pool = replicas(['a', 'b'], { ports })
    down.set('a', reset())
    const work = pool.work(call)
    const [first, second] = await Promise.all(
      [1, 2].map(() => outcomeOf(clock, retry(work, STEADY, { ports, gates: [pool] }))),
    )
    assert.deepEqual([first!.value, second!.value, calls], ['b', 'b', ['a 0', 'b 0', 'b 100']])
    await assert.rejects(retry(work), /must be among the gates/)
  })

  it('gives each copy of a hedged attempt a replica of its own, and brings none back by a success of either', async () => {
    const { clock } = scripted()
    const ports = { clock, random: () => 0 }
    const { call, calls } = network(clock)
    const pool = replicas(['a', 'b'], { ports })
    pool.settle(pool.pick(), { kind: 'failure', fault: 'transient' })
    const twice: Gate = {
      accompany: () => ({
        around: (call, attempt) => {
          void call({ ...attempt, attempt: 1 })
          return call(attempt)
        },
      }),
    }
    await outcomeOf(clock, retry(pool.work(call), STEADY, { ports, gates: [twice, pool] }))
    assert.deepEqual(calls, ['b 0', 'a 0'])
    assert.deepEqual([pool.pick().replica.name, pool.pick().replica.name], ['b', 'b'])
  })

  it('begins with one that the die chose', () => {
    const pool = replicas(['a', 'b'], { ports: { clock: virtualClock(), random: () => 0.5 } })
    assert.equal(pool.pick().replica.name, 'b')
  })

  it('can be asked by hand', () => {
    const clock = virtualClock()
    const pool = replicas(['a', 'b'], { ports: { clock, random: () => 0 } })
    const first = pool.pick()
    pool.settle(first, { kind: 'failure', fault: 'transient' })
    assert.deepEqual([first, pool.pick(), pool.pick()].map(({ replica }) => replica.name).join(''), 'abb')
    const again = pool.pick([pool.pick()])
    assert.equal(again.replica.name, 'a')
    pool.settle(again, SUCCESS)
  })

  it('refuses a list that cannot be kept', () => {
    assert.throws(() => replicas([]), InvalidPolicyError)
    assert.throws(() => replicas(['a', 'a']), InvalidPolicyError)
    assert.throws(() => replicas([{ url: 'a' } as never]), InvalidPolicyError)
  })

  it('calls each operation at most maxAttempts times, never the same replica twice in a row, and leaves nothing', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 5 }),
        fc.array(fc.array(fc.boolean(), { maxLength: 4 }), { minLength: 1, maxLength: 8 }),
        fc.constantFrom('random' as const, 'round-robin' as const),
        fc.integer(),
        async (size, operations, choice, seed) => {
          const clock = virtualClock()
          const ports = { clock, random: seededRandom(seed) }
          const names = Array.from({ length: size }, (_, n) => ({ name: `${n}`, region: n % 2 ? 'east' : 'west' }))
          const pool = replicas({ replicas: names, choice, home: 'east', regionOffsetMs: 30 }, { ports })
          await expectNoLeaks(
            async ({ controller }) => {
              const { signal } = controller()
              const ends = operations.map(async fails => {
                const called: string[] = []
                const work = async ({ name }: { name: string }): Promise<void> => {
                  const failed = fails[called.push(name) - 1]
                  await clock.sleep(5)
                  if (failed) throw reset()
                }
                await pool.run(work, { maxAttempts: 4 }, { ports, signal, budget: false }).catch(() => 'failed')
                assert.ok(called.length >= 1 && called.length <= 4)
                // A region with one replica has no other to offer.
                if (size >= 4) for (const [n, name] of called.entries()) assert.notEqual(name, called[n - 1])
              })
              await clock.drain()
              await Promise.all(ends)
            },
            { clock },
          )
        },
      ),
      { numRuns: 40 },
    )
  })
})

describe('failOver', () => {
  it('needs a replica at home', () => {
    for (const home of [[], undefined as unknown as string])
      assert.throws(
        () => failOver({ home, others: ['b'] }),
        (error: unknown) => error instanceof InvalidPolicyError && /home must be a replica/.test(error.message),
      )
  })

  const REGIONS = ['north', 'south', 'west']

  it('calls at home first, elsewhere after two attempts there, within a slice of time that is its region’s own', async () => {
    for (const [slice, home] of REGIONS.entries()) {
      const { clock } = scripted()
      const ports = { clock, random: () => 0.5 }
      const { call, calls, down } = network(clock)
      const others = REGIONS.filter(region => region !== home).toReversed()
      const pool = failOver({ home, others }, { ports })
      down.set(home, reset())
      const { value } = await outcomeOf(clock, pool.run(call, STEADY, { ports }))
      assert.ok(others.includes(value!))
      assert.deepEqual(calls, [`${home} 0`, `${home} 100`, `${value} ${300 + slice * 100 + 50}`])
    }
  })

  it('takes all that is at home as one region, and how often it is called there', async () => {
    const { clock } = scripted()
    const ports = { clock, random: () => 0 }
    const { call, calls, down } = network(clock)
    const pool = failOver({ home: ['a', 'b'], others: ['c'], homeAttempts: 3, regionOffsetMs: 0 }, { ports })
    for (const name of ['a', 'b']) down.set(name, reset())
    const { value } = await outcomeOf(clock, pool.run(call, STEADY, { ports }))
    assert.deepEqual([value, calls], ['c', ['a 0', 'b 100', 'a 300', 'c 700']])
  })

  it('goes by the regions of its replicas where they have one', () => {
    const at = (name: string, region: string): { name: string; region: string } => ({ name, region })
    const { policy } = failOver({ home: at('z', 'east'), others: [at('b', 'west'), at('a', 'south')] })
    assert.equal(policy.home, 'east')
    assert.deepEqual(
      policy.replicas.map(({ region }) => region),
      ['east', 'south', 'west'],
    )
  })

  it('has its wait ended by an abort and by the deadline', async () => {
    const { clock } = scripted()
    const ports = { clock, random: () => 0.5 }
    const lost = reset()
    const { call, calls, down } = network(clock)
    const pool = failOver({ home: 'south', others: ['north'], regionOffsetMs: 10_000, homeAttempts: 1 }, { ports })
    down.set('south', lost)
    const { error } = await outcomeOf(clock, pool.run(call, { ...STEADY, totalBudgetMs: 2_000 }, { ports }))
    assert.deepEqual([error, calls, clock.monotonic()], [lost, ['south 0'], 2_000])
    const caller = new AbortController()
    const waiting = pool.run(call, STEADY, { ports, signal: caller.signal })
    const rejected = assert.rejects(waiting, { name: 'AbortError' })
    await clock.advance(500)
    caller.abort()
    await rejected
    assert.equal(clock.pending, 0)
  })
})
