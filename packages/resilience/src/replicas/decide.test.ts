import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { seededRandom } from '../testing/index.ts'
import { chooseReplica, healthyReplicas, settleReplica, type ReplicaChoice, type ReplicasState } from './decide.ts'
import { withReplicasDefaults, type ReplicasInput, type ReplicasPolicy } from './policy.ts'

function replicasOf(input: ReplicasInput): { policy: ReplicasPolicy; state: ReplicasState; world: World } {
  const policy = withReplicasDefaults(input)
  const state = healthyReplicas(policy, 0)
  return { policy, state, world: worldOf(policy, state) }
}

interface World {
  choose(now?: number, tried?: readonly ReplicaChoice[], roll?: number): ReplicaChoice
  names(times: number, now?: number): string
  end(choice: ReplicaChoice, failed: boolean, now?: number): void
}

/** A roll of 1 sets back for the whole time. */
function worldOf(policy: ReplicasPolicy, state: ReplicasState): World {
  const choose: World['choose'] = (now = 0, tried = [], roll = 0) => chooseReplica(policy, state, { now, roll, tried })
  return {
    choose,
    names: (times, now) => Array.from({ length: times }, () => choose(now).replica.name).join(''),
    end: (choice, failed, now = 0) => settleReplica(policy, state, choice, { failed, now, roll: 1 }),
  }
}

describe('round robin', () => {
  it('takes one after the other, from a place that the die chose', () => {
    const policy = withReplicasDefaults({ replicas: ['a', 'b', 'c'] })
    for (const [roll, names] of [
      [0, 'abcabca'],
      [0.5, 'bcabcab'],
      [0.99, 'cabcabc'],
      [1, 'abcabca'],
    ] as const)
      assert.equal(worldOf(policy, healthyReplicas(policy, roll)).names(7), names)
  })

  it('gives the turns of one that is set back to all others alike', () => {
    const { world } = replicasOf({ replicas: ['a', 'b', 'c', 'd'] })
    world.end(world.choose(), true)
    assert.equal(world.names(6, 1), 'bcdbcd')
    assert.equal(world.names(4, 5_000), 'abcd')
  })
})

describe('a random choice', () => {
  it('is every healthy replica equally often', () => {
    const { world } = replicasOf({ replicas: ['a', 'b', 'c', 'd'], choice: 'random' })
    world.end(world.choose(0, [], 0), true)
    const chosen = [0, 0.33, 0.34, 0.66, 0.67, 1].map(roll => world.choose(1, [], roll).replica.name)
    assert.deepEqual(chosen, ['b', 'b', 'c', 'c', 'd', 'd'])
  })

  it('by a die that shows no number is the first', () => {
    const { world } = replicasOf({ replicas: ['a', 'b'], choice: 'random' })
    assert.equal(world.choose(0, [], NaN).replica.name, 'a')
  })
})

describe('a retry', () => {
  it('prefers a replica that the operation has not called yet, then any but the latest, then what there is', () => {
    const { world } = replicasOf({ replicas: ['a', 'b', 'c'], setBackMs: 0 })
    const tried: ReplicaChoice[] = []
    for (let attempt = 0; attempt < 12; attempt++) {
      const choice = world.choose(0, tried)
      if (attempt < 3) assert.ok(tried.every(({ place }) => place !== choice.place))
      assert.notEqual(choice.place, tried.at(-1)?.place)
      tried.push(choice)
    }
    const { world: alone } = replicasOf({ replicas: ['a'] })
    assert.equal(alone.choose(0, [alone.choose()]).replica.name, 'a')
  })

  it('finds the one that is left, whatever the die says', () => {
    const { world } = replicasOf({ replicas: ['a', 'b', 'c'], choice: 'random' })
    const tried = [world.choose(0, [], 0), world.choose(0, [], 0.9)]
    for (const roll of [0, 0.5, 1]) assert.equal(world.choose(0, tried, roll).replica.name, 'b')
  })

  it('prefers even one that is set back to the one that has just failed it', () => {
    const { world } = replicasOf({ replicas: ['a', 'b'] })
    const [first, second] = [world.choose(), world.choose()]
    world.end(first, true, 0)
    world.end(second, true, 1_000)
    assert.equal(world.choose(1_000, [first]).replica.name, 'b')
  })
})

describe('a replica that failed', () => {
  it('is set back for setBackMs, twice as long each time in a row, up to maxSetBackMs', () => {
    const { state, world } = replicasOf({ replicas: ['a'], setBackMs: 1_000, maxSetBackMs: 5_000 })
    const until = [1, 2, 3, 4, 5].map(() => {
      world.end(world.choose(), true, 0)
      return state.replicas[0]!.until
    })
    assert.deepEqual(until, [1_000, 2_000, 4_000, 5_000, 5_000])
  })

  it('comes back at an instant that the die chose, in the second half of its time', () => {
    const policy = withReplicasDefaults({ replicas: ['a'] })
    for (const [roll, until] of [
      [0, 2_500],
      [1, 5_000],
    ] as const) {
      const state = healthyReplicas(policy, 0)
      const choice = chooseReplica(policy, state, { now: 0, roll: 0, tried: [] })
      settleReplica(policy, state, choice, { failed: true, now: 0, roll })
      assert.equal(state.replicas[0]!.until, until)
    }
  })

  it('is healthy again after one success', () => {
    const { state, world } = replicasOf({ replicas: ['a'] })
    world.end(world.choose(), true, 0)
    world.end(world.choose(), true, 0)
    world.end(world.choose(7), false, 7)
    assert.deepEqual(state.replicas[0], { turn: 3, until: 7, failures: 0, generation: 3 })
    world.end(world.choose(8), true, 8)
    assert.deepEqual(state.replicas[0], { turn: 4, until: 5_008, failures: 1, generation: 4 })
  })

  it('with a hundred calls under way has failed once', () => {
    const { state, world } = replicasOf({ replicas: ['a'] })
    const choices = Array.from({ length: 100 }, () => world.choose())
    for (const choice of choices) world.end(choice, true, 0)
    assert.deepEqual(state.replicas[0], { turn: 100, until: 5_000, failures: 1, generation: 1 })
  })

  it('is set back though other calls that were sent with that one have succeeded', () => {
    const { state, world } = replicasOf({ replicas: ['a'] })
    const [good, bad] = [world.choose(), world.choose()]
    world.end(good, false, 0)
    world.end(bad, true, 0)
    assert.equal(state.replicas[0]!.until, 5_000)
  })

  it('is not brought back by a success that was sent before it failed', () => {
    const { state, world } = replicasOf({ replicas: ['a'] })
    const [early, late] = [world.choose(), world.choose()]
    world.end(late, true, 0)
    world.end(early, false, 1)
    assert.equal(state.replicas[0]!.until, 5_000)
  })
})

describe('when too few are healthy', () => {
  it('and all of two are set back, the one whose time ends first is taken', () => {
    const { world } = replicasOf({ replicas: ['a', 'b'] })
    const [a, b] = [world.choose(), world.choose()]
    world.end(b, true, 0)
    world.end(a, true, 10)
    assert.equal(world.names(4, 20), 'bbbb')
  })

  it('half of them stay in the choice, so that no single one bears the load of all', () => {
    const { world } = replicasOf({ replicas: ['a', 'b', 'c', 'd', 'e'] })
    const choices = Array.from({ length: 5 }, () => world.choose())
    for (const [order, place] of [3, 1, 4, 0].entries()) world.end(choices[place]!, true, order)
    assert.deepEqual(new Set(world.names(30, 10)), new Set('bcd'))
  })

  it('a minShare of 0 leaves one', () => {
    const { world } = replicasOf({ replicas: ['a', 'b', 'c', 'd'], minShare: 0 })
    const choices = Array.from({ length: 4 }, () => world.choose())
    for (const [order, place] of [2, 0, 1, 3].entries()) world.end(choices[place]!, true, order)
    assert.equal(world.names(3, 10), 'ccc')
  })
})

describe('a fail-over', () => {
  const regions = ['north', 'south', 'west']
  const replicas = regions.flatMap(region => ['1', '2'].map(n => ({ name: region + n, region })))

  it('comes after the attempts at home, and goes to all other regions alike', () => {
    const { world } = replicasOf({ replicas, home: 'south' })
    const away = new Set<string>()
    for (let operation = 0; operation < 20; operation++) {
      const first = world.choose()
      const second = world.choose(0, [first])
      const third = world.choose(0, [first, second])
      assert.deepEqual([first, second].map(({ replica }) => replica.name).toSorted(), ['south1', 'south2'])
      away.add(third.replica.name)
    }
    assert.deepEqual([...away].toSorted(), ['north1', 'north2', 'west1', 'west2'])
  })

  it('does not come where there is no other region', () => {
    const { world } = replicasOf({ replicas: ['a', 'b'].map(name => ({ name, region: 'north' })), home: 'north' })
    const tried = [world.choose(), world.choose(), world.choose()]
    assert.equal(world.choose(0, tried).waitMs, 0)
  })

  it('is spread over time, each region in a slice of its own; what follows it waits no more', () => {
    for (const [slice, home] of regions.entries()) {
      const { world } = replicasOf({ replicas, home })
      const atHome = [world.choose(), world.choose()]
      assert.deepEqual(
        atHome.map(({ waitMs }) => waitMs),
        [0, 0],
      )
      const waits = [0, 0.5, 0.999].map(roll => world.choose(0, atHome, roll).waitMs)
      assert.deepEqual(waits, [slice * 100, slice * 100 + 50, slice * 100 + 99])
      assert.equal(world.choose(0, [...atHome, world.choose(0, atHome)], 0.5).waitMs, 0)
    }
  })

  it('is spread evenly for each replica too, though one die chooses both', () => {
    const { world } = replicasOf({ replicas, home: 'north', choice: 'random' })
    const random = seededRandom(1)
    const atHome = [world.choose(0, [], 0), world.choose(0, [], 0.9)]
    const waits = new Map<string, number[]>()
    for (let n = 0; n < 4_000; n++) {
      const { replica, waitMs } = world.choose(0, atHome, random())
      waits.set(replica.name, [...(waits.get(replica.name) ?? []), waitMs])
    }
    assert.equal(waits.size, 4)
    for (const of of waits.values()) {
      const mean = of.reduce((sum, ms) => sum + ms, 0) / of.length
      assert.ok(mean > 45 && mean < 55, `${mean}`)
    }
  })
})

describe('a choice, whatever happened', () => {
  it('is never the latest replica while its region has another, nor one set back while enough are healthy', () => {
    const step = fc.record({
      afterMs: fc.constantFrom(0, 1, 1_000, 6_000),
      failed: fc.boolean(),
      roll: fc.double({ min: 0, max: 1, noNaN: true }),
      isRetry: fc.boolean(),
    })
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6 }),
        fc.constantFrom('round-robin' as const, 'random' as const),
        fc.array(step, { maxLength: 100 }),
        (size, choice, steps) => {
          const policy = withReplicasDefaults({ replicas: Array.from({ length: size }, (_, n) => `${n}`), choice })
          const state = healthyReplicas(policy, 0)
          let now = 0
          let tried: ReplicaChoice[] = []
          for (const { afterMs, failed, roll, isRetry } of steps) {
            now += afterMs
            if (!isRetry) tried = []
            const healthy = new Set(state.replicas.flatMap(({ until }, place) => (until <= now ? [place] : [])))
            const chosen = chooseReplica(policy, state, { now, roll, tried })
            if (size > 1) assert.notEqual(chosen.place, tried.at(-1)?.place)
            if (tried.length === 0 && healthy.size >= size / 2) assert.ok(healthy.has(chosen.place))
            settleReplica(policy, state, chosen, { failed, now, roll })
            tried.push(chosen)
          }
        },
      ),
    )
  })
})
