import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { queueKey } from '../../task/lane.ts'
import { askOf, sit, type OpenStore } from './exam.test-kit.ts'
import { asClaimed, LANE, LEASE_MS, PARTITION, QUEUE, retryAt, succeed } from './tasks.test-kit.ts'

const RETRIES = queueKey({ ...QUEUE, kind: 'retry' })

export function examineClaims(open: OpenStore): void {
  describe('a claim', () => {
    it('takes what is due and leaves the rest', async () => {
      const { add, claim, clock } = await sit(open)
      const late = await add({ dueAt: clock.now() - 1 })
      const due = await add({ dueAt: clock.now() })
      const early = await add({ dueAt: clock.now() + 1 })
      assert.deepEqual(idsOf(await claim()), idsOf([late, due]))
      await clock.advance(1)
      assert.deepEqual(idsOf(await claim()), idsOf([early]))
    })

    it('hands out the whole task, with a lease that begins when the claim is applied', async () => {
      const { add, claim, clock } = await sit(open)
      const task = await add({
        request: { targetUrl: 'https://api.example/a', method: 'POST', headers: { a: 'b' }, body: Uint8Array.of(7) },
        metadata: { order: '1' },
        leaseMs: 45_000,
      })
      await clock.advance(250)
      const claimed = await claim({}, 'my call')
      assert.deepEqual(claimed, [asClaimed(task, { token: 'my call', endsAt: clock.now() + 45_000 })])
    })

    it('makes a task IN_FLIGHT: token and lease, in the next version', async () => {
      const { add, claim, clock, get } = await sit(open)
      const task = await add()
      await claim({}, 'my call')
      const { state, version } = await get(task)
      const lease = { token: 'my call', endsAt: clock.now() + LEASE_MS, cancelRequested: false }
      assert.deepEqual(state, { status: 'IN_FLIGHT', lease })
      assert.equal(version, 2)
    })

    it('goes by due instant, then by arrival', async () => {
      const { add, claim, clock } = await sit(open)
      const now = clock.now()
      const [third, first, fourth, second] = [
        await add({ dueAt: now - 10 }),
        await add({ dueAt: now - 30 }),
        await add({ dueAt: now - 10 }),
        await add({ dueAt: now - 20 }),
      ]
      assert.deepEqual(idsOf(await claim({ count: 3 })), idsOf([first, second, third]))
      assert.deepEqual(idsOf(await claim()), idsOf([fourth]))
    })

    it('goes by arrival, not by id or creation', async () => {
      const { store, build, claim, clock } = await sit(open)
      const dueAt = clock.now()
      const older = build({ dueAt })
      await clock.advance(1_000)
      const newer = build({ dueAt })
      await store.enqueue([newer], { perLane: 9, total: 9 })
      await store.enqueue([older], { perLane: 9, total: 9 })
      assert.deepEqual(idsOf(await claim()), idsOf([newer, older]))
    })

    it('takes from the back, if asked to, what became due last, and never what is not yet due', async () => {
      const { add, claim, clock } = await sit(open)
      const now = clock.now()
      const oldest = await add({ dueAt: now - 30 })
      const newest = await add({ dueAt: now })
      const [early, alsoEarly] = [await add({ dueAt: now - 20 }), await add({ dueAt: now - 20 })]
      const notYet = await add({ dueAt: now + 1 })
      assert.deepEqual(idsOf(await claim({ count: 2, end: 'back' })), idsOf([newest, alsoEarly]))
      assert.deepEqual(idsOf(await claim({ count: 1 })), idsOf([oldest]))
      assert.deepEqual(idsOf(await claim({ end: 'back' })), idsOf([early]))
      assert.deepEqual(await claim({ end: 'back' }), [])
      await clock.advance(1)
      assert.deepEqual(idsOf(await claim({ end: 'back' })), idsOf([notYet]))
    })

    it('takes both ends of a queue in one call, and says when the rest is due', async () => {
      const { store, add, take, clock } = await sit(open)
      const tasks = []
      for (const agoMs of [4, 3, 2, 1]) tasks.push(await add({ dueAt: clock.now() - agoMs }))
      const [first, second, , last] = tasks
      const asks = [askOf({ count: 1 }), askOf({ count: 1, end: 'back' })]
      const answer = await store.claim({ partition: PARTITION, steward: await take(), token: 'a', asks })
      assert.ok(answer.kind === 'claimed')
      assert.deepEqual(idsOf(answer.tasks), idsOf([first!, last!]))
      const head = { lane: LANE, queue: queueKey(QUEUE), dueAt: second!.dueAt }
      assert.deepEqual(answer.heads, [head, head])
    })

    it('takes so many of each asked queue and no more, in the order of the asks', async () => {
      const { store, addMany, take } = await sit(open)
      const firsts = await addMany(3)
      const retries = await addMany(3, { queue: { ...QUEUE, kind: 'retry' } })
      const steward = await take()
      const asks = [askOf({ queue: RETRIES, count: 2 }), askOf({ count: 1 })]
      const answer = await store.claim({ partition: PARTITION, steward, token: 'a', asks })
      assert.ok(answer.kind === 'claimed')
      assert.deepEqual(idsOf(answer.tasks), idsOf([...retries.slice(0, 2), firsts[0]!]))
    })

    it('asks policies, kinds and ranks apart', async () => {
      const { add, claim } = await sit(open)
      const queues = [
        QUEUE,
        { ...QUEUE, policyId: 'Default' },
        { ...QUEUE, policyId: 'default ' },
        { ...QUEUE, rank: 'low' },
        { ...QUEUE, kind: 'retry' },
      ] as const
      for (const queue of queues) {
        const task = await add({ queue })
        assert.deepEqual(idsOf(await claim({ queue: queueKey(queue) })), idsOf([task]))
      }
    })

    it('says when each asked queue is due next, whatever it took: null for an empty one', async () => {
      const { store, addMany, add, take, clock } = await sit(open)
      await addMany(2, { dueAt: clock.now() - 5 })
      await add({ queue: { ...QUEUE, kind: 'retry' }, dueAt: clock.now() + 700 })
      const steward = await take()
      const lanes = ['never heard of', LANE]
      const asks = [
        askOf({ count: 1 }),
        askOf({ queue: RETRIES }),
        ...lanes.map(lane => askOf({ lane, queue: 'none' })),
      ]
      const answer = await store.claim({ partition: PARTITION, steward, token: 'a', asks })
      assert.ok(answer.kind === 'claimed')
      assert.equal(answer.now, clock.now())
      assert.deepEqual(answer.heads, [
        { lane: LANE, queue: queueKey(QUEUE), dueAt: clock.now() - 5 },
        { lane: LANE, queue: RETRIES, dueAt: clock.now() + 700 },
        { lane: 'never heard of', queue: 'none', dueAt: null },
        { lane: LANE, queue: 'none', dueAt: null },
      ])
    })

    it('never takes what another claim took, also when both come at once', async () => {
      const { store, addMany, take } = await sit(open)
      const tasks = await addMany(30)
      const steward = await take()
      const claims = ['a', 'b', 'c', 'd'].map(token =>
        store.claim({ partition: PARTITION, steward, token, asks: [askOf({ count: 10 })] }),
      )
      const taken = (await Promise.all(claims)).flatMap(answer => (answer.kind === 'claimed' ? answer.tasks : []))
      assert.deepEqual(idsOf(taken).toSorted(), idsOf(tasks))
    })
  })

  describe('a claim by whoever is not the steward', () => {
    it('is refused as a whole, before anybody is', async () => {
      const { store, add, get } = await sit(open)
      const task = await add()
      const answer = await store.claim({ partition: PARTITION, steward: 'made up', token: 'a', asks: [askOf()] })
      assert.equal(answer.kind, 'refused')
      assert.equal((await get(task)).version, 1)
    })

    it('is refused after another took the partition, and after it was given', async () => {
      const { store, add, take, get } = await sit(open)
      const task = await add()
      const former = await take()
      const present = await take()
      const claim = (steward: string) => store.claim({ partition: PARTITION, steward, token: 'a', asks: [askOf()] })
      assert.equal((await claim(former)).kind, 'refused')
      await store.give({ partition: PARTITION, steward: present })
      assert.equal((await claim(present)).kind, 'refused')
      assert.equal((await get(task)).state.status, 'PENDING')
    })

    it('takes nothing from a lane of another partition', async () => {
      const { store, add, take, get } = await sit(open)
      const task = await add()
      const elsewhere = (PARTITION + 1) % 256
      const steward = await take(elsewhere)
      await store.claim({ partition: elsewhere, steward, token: 'a', asks: [askOf()] })
      assert.equal((await get(task)).state.status, 'PENDING')
    })
  })

  describe("a lane's limit", () => {
    it('is passed by no claim, leases under way included', async () => {
      const { addMany, claim } = await sit(open)
      await addMany(10)
      assert.equal((await claim({ limit: 3 })).length, 3)
      assert.equal((await claim({ limit: 3 })).length, 0)
      assert.equal((await claim({ limit: 2 })).length, 0)
      assert.equal((await claim({ limit: 3, end: 'back' })).length, 0)
      assert.equal((await claim({ limit: 5 })).length, 2)
      assert.equal((await claim({ limit: 0 })).length, 0)
    })

    it('is shared by its queues', async () => {
      const { store, addMany, take } = await sit(open)
      await addMany(5)
      await addMany(5, { queue: { ...QUEUE, kind: 'retry' } })
      const steward = await take()
      const asks = [askOf({ count: 2, limit: 3 }), askOf({ queue: RETRIES, count: 5, limit: 3 })]
      const answer = await store.claim({ partition: PARTITION, steward, token: 'a', asks })
      assert.ok(answer.kind === 'claimed')
      assert.deepEqual(
        answer.tasks.map(({ queue }) => queue.kind),
        ['first', 'first', 'retry'],
      )
    })

    it('holds for claims that come at once', async () => {
      const { store, addMany, take } = await sit(open)
      await addMany(20)
      const steward = await take()
      const claims = ['a', 'b', 'c'].map(token =>
        store.claim({ partition: PARTITION, steward, token, asks: [askOf({ limit: 4 })] }),
      )
      const taken = (await Promise.all(claims)).flatMap(answer => (answer.kind === 'claimed' ? answer.tasks : []))
      assert.equal(taken.length, 4)
    })

    it('counts the leases of former stewards', async () => {
      const { addMany, claim, take } = await sit(open)
      await addMany(5)
      assert.equal((await claim({ limit: 2 })).length, 2)
      await take()
      assert.equal((await claim({ limit: 3 })).length, 1)
    })

    it('counts a lease that has ended until somebody settles it, which no limit prevents', async () => {
      const { store, addMany, claim, clock } = await sit(open)
      await addMany(2)
      await claim({ limit: 1 })
      await clock.advance(LEASE_MS + 1)
      assert.equal((await claim({ limit: 1 })).length, 0)
      const { tasks } = await store.endedLeases({ partition: PARTITION, limit: 10 })
      await store.settle(tasks.map(task => retryAt(task, clock.now() + 60_000)))
      assert.equal((await claim({ limit: 1 })).length, 1)
    })

    it('has room again after a settle and after a release', async () => {
      const { store, addMany, claim } = await sit(open)
      await addMany(4)
      const [one, other] = await claim({ limit: 2 })
      await store.settle([succeed(one!)])
      await store.release([{ taskId: other!.taskId, token: other!.lease.token }])
      assert.equal((await claim({ limit: 2 })).length, 2)
    })

    it('is no other lane’s', async () => {
      const { addMany, claim } = await sit(open)
      const destination = 'https://other.example'
      await addMany(2)
      await addMany(2, { destination })
      assert.equal((await claim({ limit: 1 })).length, 1)
      assert.equal((await claim({ lane: `acme ${destination}`, limit: 1 })).length, 1)
    })
  })
}

function idsOf(tasks: readonly { readonly taskId: string }[]): string[] {
  return tasks.map(({ taskId }) => taskId)
}
