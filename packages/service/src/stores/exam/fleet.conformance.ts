import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { laneKey, partitionOf } from '../../task/lane.ts'
import { compareText, everything, LARGE_FROM, sit, type OpenStore, type Setting } from './exam.test-kit.ts'
import { giveUp, LANE, PARTITION, retryAt, succeed, TENANT } from './tasks.test-kit.ts'

const FREE = { partition: PARTITION, instance: 'one', token: 'token of one', from: null }
const OF_OTHER = { ...FREE, instance: 'other', token: 'token of other' }

const beat = ({ store }: Setting, instance = 'one') => store.beat({ instance, largeFrom: LARGE_FROM })

export function examineFleet(open: OpenStore): void {
  describe('a beat', () => {
    it('counts, and shows the counts of all instances', async () => {
      const setting = await sit(open)
      await beat(setting)
      await beat(setting, 'other')
      const { now, beats } = await beat(setting)
      assert.equal(now, setting.clock.now())
      assert.deepEqual(
        [...beats].toSorted((one, other) => compareText(one.instance, other.instance)),
        [
          { instance: 'one', count: 2 },
          { instance: 'other', count: 1 },
        ],
      )
    })

    it('shows who serves what', async () => {
      const setting = await sit(open)
      const one = { partition: 3, instance: 'one', token: 'a' }
      const other = { partition: 255, instance: 'other', token: 'b' }
      for (const steward of [one, other]) await setting.store.take({ ...steward, from: null })
      const { stewards } = await beat(setting)
      assert.deepEqual(
        [...stewards].toSorted((one, other) => one.partition - other.partition),
        [one, other],
      )
    })
  })

  describe('a partition', () => {
    it('that is free can be taken, once', async () => {
      const { store } = await sit(open)
      assert.equal((await store.take(FREE)).taken, true)
      assert.equal((await store.take(OF_OTHER)).taken, false)
    })

    it('that is served can be taken by an instance that names its token', async () => {
      const setting = await sit(open)
      const { store } = setting
      await store.take(FREE)
      assert.equal((await store.take({ ...OF_OTHER, from: 'stale' })).taken, false)
      assert.equal((await store.take({ ...OF_OTHER, from: FREE.token })).taken, true)
      assert.equal((await store.take({ ...FREE, token: 'a third', from: FREE.token })).taken, false)
      const { stewards } = await beat(setting)
      assert.deepEqual(stewards, [{ partition: PARTITION, instance: 'other', token: OF_OTHER.token }])
    })

    it('is taken by one of several that try at once', async () => {
      const { store } = await sit(open)
      const takes = ['a', 'b', 'c'].map(token => store.take({ ...FREE, instance: token, token }))
      const taken = (await Promise.all(takes)).filter(answer => answer.taken)
      assert.equal(taken.length, 1)
    })

    it('is taken already when the same take is asked again because its answer was lost', async () => {
      const { store } = await sit(open)
      await store.take(FREE)
      assert.equal((await store.take(FREE)).taken, true)
    })

    it('is given by its steward only, and is free from then on', async () => {
      const setting = await sit(open)
      const { store } = setting
      await store.take(FREE)
      assert.equal((await store.give({ partition: PARTITION, steward: 'stale' })).given, false)
      assert.equal((await store.give({ partition: PARTITION, steward: FREE.token })).given, true)
      assert.equal((await store.give({ partition: PARTITION, steward: FREE.token })).given, false)
      assert.deepEqual((await beat(setting)).stewards, [])
      assert.equal((await store.take({ ...FREE, token: 'anew' })).taken, true)
    })
  })

  describe("a lane's memory", () => {
    const memory = { phase: 'open', until: 12_345.5, openings: 3, learned: null, forced: false }
    const memoriesOf = ({ store }: Setting, ...partitions: number[]) =>
      everything(page => store.memories({ ...page, partitions }))

    it('is written by the steward, and found by the next', async () => {
      const setting = await sit(open)
      const { store, take } = setting
      const ask = { partition: PARTITION, steward: await take() }
      const first = { lane: LANE, memory: { phase: 'closed' } }
      assert.equal((await store.remember({ ...ask, lanes: [first] })).remembered, true)
      assert.equal((await store.remember({ ...ask, lanes: [{ lane: LANE, memory }] })).remembered, true)
      await take()
      assert.deepEqual(await memoriesOf(setting, PARTITION), [{ lane: LANE, memory }])
    })

    it('is refused from an instance that is not the steward, or no longer', async () => {
      const setting = await sit(open)
      const { store, take } = setting
      const former = await take()
      await take()
      for (const steward of [former, 'made up']) {
        const { remembered } = await store.remember({ partition: PARTITION, steward, lanes: [{ lane: LANE, memory }] })
        assert.equal(remembered, false)
      }
      assert.deepEqual(await memoriesOf(setting, PARTITION), [])
    })

    it('is listed with its partition, in pages', async () => {
      const setting = await sit(open)
      const { store, take } = setting
      const [here, there] = [lanesIn(PARTITION, 5), lanesIn((PARTITION + 1) % 256, 1)]
      for (const lanes of [here, there]) {
        const partition = partitionOf(lanes[0] ?? '')
        const records = lanes.map(lane => ({ lane, memory: { lane } }))
        const answer = await store.remember({ partition, steward: await take(partition), lanes: records })
        assert.equal(answer.remembered, true)
      }
      const lanesOf = async (...partitions: number[]) =>
        (await memoriesOf(setting, ...partitions)).map(({ lane }) => lane).toSorted()
      assert.deepEqual(await lanesOf(PARTITION), here.toSorted())
      assert.deepEqual(await lanesOf(PARTITION, (PARTITION + 1) % 256), [...here, ...there].toSorted())
      assert.deepEqual(await lanesOf(), [])
    })
  })

  describe('how much waits', () => {
    const NONE = { PENDING: 0, IN_FLIGHT: 0, SUCCEEDED: 0, EXHAUSTED: 0, CANCELLED: 0 }

    it('is nothing in an empty store', async () => {
      const { waiting } = await sit(open)
      assert.deepEqual(await waiting({ tasks: 1, lanes: 1 }), { tasks: NONE, openLanes: 0, tenants: [], lanes: [] })
    })

    it('says how many tasks of all are in each status, and how many lanes have one that goes on', async () => {
      const { store, add, ended, claim, waiting, clock } = await sit(open)
      await add({ destination: 'https://flies.example' })
      await claim({ lane: laneKey({ tenant: TENANT, destination: 'https://flies.example' }) })
      await add({ tenant: 'other', dueAt: clock.now() + 60_000 })
      await ended(task => retryAt(task, clock.now() + 60_000), { destination: 'https://waits.example' })
      await ended(succeed)
      await ended(giveUp)
      await store.cancel((await add()).taskId)
      const { tasks, openLanes } = await waiting()
      assert.deepEqual(tasks, { PENDING: 2, IN_FLIGHT: 1, SUCCEEDED: 1, EXHAUSTED: 1, CANCELLED: 1 })
      assert.equal(openLanes, 3)
    })

    it('follows every write', async () => {
      const { store, add, claimOne, settle, waiting, sweep, clock } = await sit(open)
      const counts: (readonly [pending: number, inFlight: number, openLanes: number])[] = []
      const look = async (): Promise<void> => {
        const { tasks, openLanes } = await waiting()
        counts.push([tasks.PENDING, tasks.IN_FLIGHT, openLanes])
      }
      const { taskId } = await add()
      await look()
      const claimed = await claimOne()
      await look()
      await settle(retryAt(claimed, clock.now()))
      await look()
      await store.cancel(taskId)
      await look()
      await clock.advance(1)
      await sweep({ finishedBefore: clock.now() })
      assert.deepEqual(counts, [
        [1, 0, 1],
        [0, 1, 1],
        [1, 0, 1],
        [0, 0, 0],
      ])
      assert.deepEqual((await waiting()).tasks, NONE)
    })

    it('names the tenants and lanes that have much', async () => {
      const { addMany, claim, waiting } = await sit(open)
      await addMany(3)
      await addMany(4, { tenant: 'busy' })
      await addMany(1, { tenant: 'busy', destination: 'https://other.example' })
      for (const n of [1, 2, 3]) await addMany(1, { tenant: 'wide', destination: `https://${n}.example` })
      await claim({ lane: laneKey({ tenant: 'wide', destination: 'https://1.example' }) })
      const { tenants, lanes } = await waiting({ tasks: 4, lanes: 3 })
      assert.deepEqual(
        [...tenants].toSorted((one, other) => compareText(one.tenant, other.tenant)),
        [
          { tenant: 'busy', pending: 5, openLanes: 2 },
          { tenant: 'wide', pending: 2, openLanes: 3 },
        ],
      )
      assert.deepEqual(lanes, [{ lane: laneKey({ tenant: 'busy', destination: 'https://api.example' }), pending: 4 }])
    })
  })
}

function lanesIn(partition: number, count: number): string[] {
  const lanes: string[] = []
  for (let n = 0; lanes.length < count; n++) {
    const lane = laneKey({ tenant: TENANT, destination: `https://${n}.example` })
    if (partitionOf(lane) === partition) lanes.push(lane)
  }
  return lanes
}
