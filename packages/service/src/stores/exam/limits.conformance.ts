import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { laneKey } from '../../task/lane.ts'
import { askOf, only, sit, type OpenStore } from './exam.test-kit.ts'
import { LEASE_MS, PARTITION, putBack, QUEUE, RETRIES, retryAt, succeed, TENANT } from './tasks.test-kit.ts'

export function examineLimits(open: OpenStore): void {
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
      const { addMany, claimEach } = await sit(open)
      await addMany(5)
      await addMany(5, { queue: { ...QUEUE, kind: 'retry' } })
      const asks = [askOf({ count: 2, limit: 3 }), askOf({ queue: RETRIES, count: 5, limit: 3 })]
      const { tasks } = await claimEach(asks)
      assert.deepEqual(
        tasks.map(({ queue }) => queue.kind),
        ['first', 'first', 'retry'],
      )
    })

    it('holds for claims that come at once', async () => {
      const { store, addMany, take } = await sit(open)
      await addMany(20)
      const steward = await take()
      const claimOf = (token: string) => ({ partition: PARTITION, steward, token, asks: [askOf({ limit: 4 })] })
      const answers = await Promise.all(['a', 'b', 'c'].map(async token => store.claim([claimOf(token)])))
      const taken = answers.flatMap(({ answers }) => {
        const answer = only(answers)
        return answer.kind === 'claimed' ? answer.tasks : []
      })
      assert.equal(taken.length, 4)
    })

    it('holds for two claims of one call', async () => {
      const { store, addMany, take } = await sit(open)
      await addMany(20)
      const steward = await take()
      const claims = ['a', 'b'].map(token => ({ partition: PARTITION, steward, token, asks: [askOf({ limit: 4 })] }))
      const { answers } = await store.claim(claims)
      assert.equal(answers.flatMap(answer => (answer.kind === 'claimed' ? answer.tasks : [])).length, 4)
    })

    it('counts the leases of former stewards', async () => {
      const { addMany, claim, take } = await sit(open)
      await addMany(5)
      assert.equal((await claim({ limit: 2 })).length, 2)
      await take()
      assert.equal((await claim({ limit: 3 })).length, 1)
    })

    it('counts a lease that has ended until it is settled, which no limit prevents', async () => {
      const { store, addMany, claim, leased, clock } = await sit(open)
      await addMany(2)
      await claim({ limit: 1 })
      await clock.advance(LEASE_MS + 1)
      assert.equal((await claim({ limit: 1 })).length, 0)
      const lost = await leased({ haveEnded: true })
      await store.settle(lost.map(task => retryAt(task, clock.now() + 60_000)))
      assert.equal((await claim({ limit: 1 })).length, 1)
    })

    it('has room again after a settle and after a put-back', async () => {
      const { store, addMany, claim, claimOne } = await sit(open)
      await addMany(4)
      const [one, other] = [await claimOne(), await claimOne()]
      assert.equal((await claim({ limit: 2 })).length, 0)
      await store.settle([succeed(one), putBack(other)])
      assert.equal((await claim({ limit: 2 })).length, 2)
    })

    it('is no other lane’s', async () => {
      const { addMany, claim } = await sit(open)
      const destination = 'https://other.example'
      await addMany(2)
      await addMany(2, { destination })
      assert.equal((await claim({ limit: 1 })).length, 1)
      assert.equal((await claim({ lane: laneKey({ tenant: TENANT, destination }), limit: 1 })).length, 1)
    })
  })
}
