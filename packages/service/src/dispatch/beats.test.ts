import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { WaitingTasks } from '../stores/store.ts'
import { laneKey, PARTITIONS } from '../task/lane.ts'
import { HUNG, setting } from './dispatcher.test-kit.ts'
import { WELL } from './simulation/faulty-store.test-kit.ts'

const LANE = laneKey({ tenant: 'acme', destination: 'https://api.example' })

describe('an instance that has nothing to do', () => {
  it('asks its store three times a second: it beats, looks for leases that ended, and lists some partitions again', async () => {
    const calls: string[] = []
    const { world } = await setting({ fateOf: (_, verb) => (calls.push(verb), WELL) })
    calls.length = 0
    await world.clock.advance(60_000)
    assert.deepEqual(new Set(calls), new Set(['beat', 'leases', 'queues']))
    assert.ok(calls.length <= 180, `${calls.length} calls in a minute`)
  })
})

describe('every beat', () => {
  it('says how much waits and is under way, and where', async () => {
    const heard: WaitingTasks[] = []
    const { world } = await setting({
      onWaiting: waiting => heard.push(waiting),
      behaviourOf: () => HUNG,
      lanes: { limit: 2 },
    })
    assert.ok(heard.length >= 20, `${heard.length} in twenty seconds`)
    await world.enqueueMany(5)
    await world.clock.advance(1_000)
    const { tasks, openLanes, lanes, tenants } = heard.at(-1)!
    assert.deepEqual([tasks.PENDING, tasks.IN_FLIGHT, openLanes], [3, 2, 1])
    assert.deepEqual(lanes, [{ lane: LANE, pending: 3 }])
    assert.deepEqual(tenants, [{ tenant: 'acme', pending: 3, openLanes: 1 }])
  })
})

describe('the partitions of an instance', () => {
  it('are all of them while it is alone, and each is one instance’s in a fleet', async () => {
    const { world, instance } = await setting()
    assert.equal(instance.dispatcher.partitions().length, PARTITIONS)
    world.start()
    world.start()
    await world.clock.advance(20_000)
    const served = world.running.map(({ dispatcher }) => dispatcher.partitions())
    assert.ok(served.every(partitions => partitions.length > 50))
    assert.deepEqual(
      served.flat().toSorted((one, other) => one - other),
      Array.from({ length: PARTITIONS }, (_, number) => number),
    )
  })
})

describe('leases of a process that died', () => {
  it('are ended soon after their time, in all partitions with a few calls', async () => {
    let calls = 0
    let isHung = true
    const { world, instance } = await setting({
      slots: 50,
      behaviourOf: () => (isHung ? HUNG : { kind: 'answers', status: 200, ms: 20 }),
      policy: { attemptTimeoutMs: 1_000 },
      fateOf: (process, verb) => ((calls += process.name !== 'instance-1' && verb === 'leases' ? 1 : 0), WELL),
    })
    for (let n = 0; n < 20; n++) await world.enqueue({ destination: `https://api-${n}.example` })
    await world.clock.advance(100)
    assert.equal(world.destinations.open.size, 20)
    instance.kill()
    isHung = false
    world.start()
    await world.clock.advance(14_000)
    calls = 0
    await world.finish(10_000)
    assert.ok(calls <= 12, `${calls} calls`)
  })
})
