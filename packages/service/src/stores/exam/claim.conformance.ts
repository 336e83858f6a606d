import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { laneKey, partitionOf, queueKey } from '../../task/lane.ts'
import { askOf, idsOf, only, sit, type OpenStore } from './exam.test-kit.ts'
import { asClaimed, FIRSTS, LANE, LEASE_MS, PARTITION, QUEUE, RETRIES, TENANT, underWay } from './tasks.test-kit.ts'

export function examineClaims(open: OpenStore): void {
  describe('a claim', () => {
    it('takes tasks that are due, and leaves the rest', async () => {
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

    it('makes a task IN_FLIGHT: token and lease, when and where it was claimed, in the next version', async () => {
      const { add, claim, clock, get } = await sit(open)
      const dueAt = clock.now() - 5
      const task = await add({ dueAt })
      await claim({}, 'my call')
      const { state, version } = await get(task)
      const lease = { token: 'my call', endsAt: clock.now() + LEASE_MS, cancelRequested: false }
      assert.deepEqual(state, { status: 'IN_FLIGHT', lease, claimed: { at: clock.now(), dueAt, queue: QUEUE } })
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
      await store.enqueue([newer])
      await store.enqueue([older])
      assert.deepEqual(idsOf(await claim()), idsOf([newer, older]))
    })

    it('takes from the back, if asked to, the tasks that became due last, and never one that is not yet due', async () => {
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
      const { add, claimEach, clock } = await sit(open)
      const first = await add({ dueAt: clock.now() - 4 })
      const second = await add({ dueAt: clock.now() - 3 })
      await add({ dueAt: clock.now() - 2 })
      const last = await add({ dueAt: clock.now() - 1 })
      const { tasks, heads } = await claimEach([askOf({ count: 1 }), askOf({ count: 1, end: 'back' })])
      assert.deepEqual(idsOf(tasks), idsOf([first, last]))
      const head = { lane: LANE, queue: FIRSTS, dueAt: second.dueAt }
      assert.deepEqual(heads, [head, head])
    })

    it('takes so many of each asked queue and no more, in the order of the asks', async () => {
      const { addMany, claimEach } = await sit(open)
      const firsts = await addMany(3)
      const retries = await addMany(3, { queue: { ...QUEUE, kind: 'retry' } })
      const { tasks } = await claimEach([askOf({ queue: RETRIES, count: 2 }), askOf({ count: 1 })])
      assert.deepEqual(idsOf(tasks), idsOf([...retries.slice(0, 2), ...firsts.slice(0, 1)]))
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
      const { add, claimEach, clock } = await sit(open)
      await add({ dueAt: clock.now() - 6 })
      await add({ dueAt: clock.now() - 5 })
      await add({ queue: { ...QUEUE, kind: 'retry' }, dueAt: clock.now() + 700 })
      const { now, heads } = await claimEach([
        askOf({ count: 1 }),
        askOf({ queue: RETRIES }),
        askOf({ lane: 'unknown https://unknown.example', queue: 'none' }),
        askOf({ queue: 'none' }),
      ])
      assert.equal(now, clock.now())
      assert.deepEqual(heads, [
        { lane: LANE, queue: FIRSTS, dueAt: clock.now() - 5 },
        { lane: LANE, queue: RETRIES, dueAt: clock.now() + 700 },
        { lane: 'unknown https://unknown.example', queue: 'none', dueAt: null },
        { lane: LANE, queue: 'none', dueAt: null },
      ])
    })

    it('never takes what another claim took, also when both come at once', async () => {
      const { store, addMany, take } = await sit(open)
      const tasks = await addMany(30)
      const steward = await take()
      const claims = ['a', 'b', 'c', 'd'].map(token =>
        store.claim([{ partition: PARTITION, steward, token, asks: [askOf({ count: 10 })] }]),
      )
      const answers = (await Promise.all(claims)).map(({ answers }) => only(answers))
      const taken = answers.flatMap(answer => (answer.kind === 'claimed' ? answer.tasks : []))
      assert.deepEqual(idsOf(taken).toSorted(), idsOf(tasks))
    })
  })

  describe('claims of several partitions in one call', () => {
    const destination = 'https://other.example'
    const elsewhere = laneKey({ tenant: TENANT, destination })

    it('are answered each for itself, in the order asked', async () => {
      const { store, add, take, get } = await sit(open)
      const [here, there] = [await add(), await add({ destination })]
      const [steward, token] = [await take(), 'mine']
      assert.notEqual(partitionOf(elsewhere), PARTITION)
      await take(partitionOf(elsewhere))
      const { answers } = await store.claim([
        { partition: partitionOf(elsewhere), steward: 'stale', token: 'other', asks: [askOf({ lane: elsewhere })] },
        { partition: PARTITION, steward, token, asks: [askOf()] },
      ])
      const [refused, claimed] = answers
      assert.deepEqual(refused, { kind: 'refused' })
      assert.ok(claimed?.kind === 'claimed')
      assert.deepEqual(idsOf(claimed.tasks), idsOf([here]))
      assert.equal((await get(there)).state.status, 'PENDING')
    })

    it('make leases with the token of their own claim', async () => {
      const { store, add, take } = await sit(open)
      await add()
      await add({ destination })
      const claims = [
        { partition: PARTITION, steward: await take(), token: 'here', asks: [askOf()] },
        {
          partition: partitionOf(elsewhere),
          steward: await take(partitionOf(elsewhere)),
          token: 'there',
          asks: [askOf({ lane: elsewhere })],
        },
      ]
      const { answers } = await store.claim(claims)
      const tasks = answers.flatMap(answer => (answer.kind === 'claimed' ? answer.tasks : []))
      assert.deepEqual(
        tasks.map(({ lease }) => lease.token),
        ['here', 'there'],
      )
      assert.deepEqual((await store.claim([])).answers, [])
    })
  })

  describe('a claim by an instance that is not the steward', () => {
    it('is refused as a whole, also before there is a steward', async () => {
      const { store, add, get } = await sit(open)
      const task = await add()
      const claim = { partition: PARTITION, steward: 'made up', token: 'a', asks: [askOf()] }
      assert.deepEqual((await store.claim([claim])).answers, [{ kind: 'refused' }])
      assert.equal((await get(task)).version, 1)
    })

    it('is refused after another took the partition, and after it was given', async () => {
      const { store, add, take, get } = await sit(open)
      const task = await add()
      const former = await take()
      const present = await take()
      const kindOf = async (steward: string) => {
        const { answers } = await store.claim([{ partition: PARTITION, steward, token: 'a', asks: [askOf()] }])
        return only(answers).kind
      }
      assert.equal(await kindOf(former), 'refused')
      await store.give({ partition: PARTITION, steward: present })
      assert.equal(await kindOf(present), 'refused')
      assert.equal((await get(task)).state.status, 'PENDING')
    })

    it('takes nothing from a lane of another partition', async () => {
      const { store, add, take, get } = await sit(open)
      const task = await add()
      const elsewhere = (PARTITION + 1) % 256
      const steward = await take(elsewhere)
      await store.claim([{ partition: elsewhere, steward, token: 'a', asks: [askOf()] }])
      assert.equal((await get(task)).state.status, 'PENDING')
    })
  })

  describe('a task under way', () => {
    it('says the same by every way to read it', async () => {
      const { store, add, claimOne, get, leased, all } = await sit(open)
      await add()
      const claimed = await claimOne()
      const task = await get(claimed)
      assert.deepEqual(task.state, underWay(claimed))
      assert.deepEqual(await leased(), [claimed])
      const { request, ...others } = task
      const { body: _, ...shown } = request
      const filter = { tenant: TENANT, status: 'IN_FLIGHT' } as const
      const listed = await all(page => store.list({ ...page, filter, order: 'newest-first' }))
      assert.deepEqual(listed, [{ ...others, request: shown }])
    })
  })
}
