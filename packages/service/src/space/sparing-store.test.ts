import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { NO_LIMITS, sit } from '../stores/conformance/exam.test-kit.ts'
import { giveUp, LANE, PARTITION, QUEUE, retryAt } from '../stores/conformance/tasks.test-kit.ts'
import { openMemoryStore } from '../stores/memory/memory-store.ts'
import type { TaskStore } from '../stores/task-store.ts'
import { queueKey } from '../task/lane.ts'
import { DiskSpace } from './disk-space.ts'
import { sparing, sparingOrders } from './sparing-store.ts'

const FULL = { name: 'StoreUnavailableError', code: 'store-full' }
const RESPONSE = { headers: { a: 'b' }, body: 'x'.repeat(10_000), bodyEncoding: 'utf8', truncated: false } as const

/** A store on a disk of a gigabyte: 18.75 MB are kept from answers and replays, 6.25 MB from attempts. */
async function setting() {
  const disk = { allBytes: 1_000_000_000, freeBytes: 500_000_000 }
  let space!: DiskSpace
  const exam = await sit(async ({ clock }) => {
    space = new DiskSpace({ clock, look: async () => ({ ...disk }) })
    return { store: sparing(openMemoryStore({ clock }), space) }
  })
  const leave = async (freeBytes: number): Promise<void> => {
    disk.freeBytes = freeBytes
    await exam.clock.advance(5_000)
  }
  return { ...exam, space, leave }
}

describe('a disk that is nearly full', () => {
  it('keeps how an attempt ended, and not what was answered', async () => {
    const { add, claimOne, settle, store, clock, leave } = await setting()
    const { taskId } = await add()
    const attempts = async () => (await store.attempts({ taskId, limit: 10 })).items
    const first = retryAt(await claimOne(), clock.now())
    await settle({ ...first, attempt: { ...first.attempt!, response: RESPONSE } })
    assert.deepEqual((await attempts())[0]!.response, RESPONSE)

    await leave(18_000_000)
    const second = giveUp(await claimOne({ queue: queueKey({ ...QUEUE, kind: 'retry' }) }))
    const attempt = second.attempt!
    assert.equal((await settle({ ...second, attempt: { ...attempt, response: RESPONSE } })).kind, 'settled')
    assert.deepEqual((await attempts())[1], attempt)
  })

  it('brings no dead letters back', async () => {
    const { ended, store, leave } = await setting()
    const { taskId, progress } = await ended(task => giveUp(task))
    await leave(18_000_000)
    const again = { taskId, generation: 1, progress: { ...progress, generation: 2 } }
    await assert.rejects(store.replayMany([again]), FULL)
    await leave(20_000_000)
    assert.deepEqual((await store.replayMany([again])).results, ['changed'])
  })

  it('begins nothing more at last, neither attempts nor callbacks nor other ends; what is under way is settled', async () => {
    const { addMany, build, claimOne, claim, settle, store, take, clock, leave } = await setting()
    await addMany(2)
    const claimed = await claimOne()
    const steward = await take()
    await leave(6_000_000)
    await assert.rejects(claim(), FULL)
    await assert.rejects(store.enqueue([build()], NO_LIMITS), FULL)
    const queue = { partition: PARTITION, steward, lane: LANE, queue: queueKey(QUEUE) }
    await assert.rejects(store.expire({ ...queue, limit: 10 }), FULL)
    const tasks = [{ taskId: claimed.taskId, dueAt: clock.now() }]
    await assert.rejects(store.recall({ partition: PARTITION, steward, tasks }), FULL)
    assert.equal((await settle(retryAt(claimed, clock.now()))).kind, 'settled')
    await leave(7_000_000)
    assert.equal((await claim()).length, 1)
  })

  it('is seen to be fuller by all that ends, also where what was answered is not kept', async () => {
    const { addMany, claim, store, clock, leave } = await setting()
    await addMany(201)
    const claimed = await claim({ count: 200 })
    // Room for one attempt more, and for less than two hundred ends.
    await leave(6_500_000)
    await store.settle(claimed.map(task => retryAt(task, clock.now() + 60_000)))
    await assert.rejects(claim(), FULL)
  })

  it('begins no more attempts than it has room for', async () => {
    const { addMany, claim, leave } = await setting()
    await addMany(201)
    await leave(6_500_000)
    await assert.rejects(claim({ count: 200 }), FULL)
    assert.equal((await claim({ count: 1 })).length, 1)
  })

  it('takes the revocations of tenants longer than their other orders, and leaves the last of it to operators', async () => {
    const { store: ofOperators, space, leave } = await setting()
    const ofTenants = sparingOrders(ofOperators, space)
    const key = (id: string) => ({ kind: 'key', tenant: 'acme', id }) as const
    const make = (store: TaskStore, id: string) => store.writeRecord({ ...key(id), document: {}, ifVersion: 0 })
    const revoke = (store: TaskStore, id: string) => store.writeRecord({ ...key(id), document: null, ifVersion: 1 })
    await make(ofTenants, 'a')
    await make(ofTenants, 'b')
    await leave(18_000_000)
    await assert.rejects(make(ofTenants, 'c'), FULL)
    assert.equal((await revoke(ofTenants, 'a')).kind, 'removed')
    await leave(6_000_000)
    await assert.rejects(revoke(ofTenants, 'b'), FULL)
    assert.equal((await revoke(ofOperators, 'b')).kind, 'removed')
  })
})
