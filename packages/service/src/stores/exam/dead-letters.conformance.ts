import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { Task } from '../../task/task.ts'
import type { TaskFilter } from '../store.ts'
import { idsOf, sit, type OpenStore, type Setting } from './exam.test-kit.ts'
import { FIRSTS, giveUp, LANE, PARTITION, REPLAYED, replayOf, succeed, TENANT } from './tasks.test-kit.ts'

const DEAD = { tenant: TENANT, status: 'EXHAUSTED' } as const

export function examineDeadLetters(open: OpenStore): void {
  describe('a list of dead letters', () => {
    it('goes by the instant of death, the latest first, then by arrival', async () => {
      const setting = await sit(open)
      const { one, two, three, four } = await fourDeaths(setting)
      assert.deepEqual(await setting.listed(DEAD), idsOf([one, four, two, three]))
    })

    it('goes the other way if asked, for readers of all of them', async () => {
      const setting = await sit(open)
      const { one, two, three, four } = await fourDeaths(setting)
      assert.deepEqual(await setting.listed(DEAD, 'oldest-death-first'), idsOf([three, two, four, one]))
    })

    it('is refused by the oldest death without the status', async () => {
      const { store } = await sit(open)
      for (const status of [undefined, 'PENDING', 'SUCCEEDED'] as const) {
        const filter = { tenant: TENANT, ...(status !== undefined && { status }) }
        await assert.rejects(store.list({ filter, order: 'oldest-death-first', limit: 2 }), { code: 'no-index' })
      }
    })

    it('is filtered by when they died, by why, and by all else', async () => {
      const setting = await sit(open)
      const { listed, store, all } = setting
      const { one, two, three, four } = await fourDeaths(setting)
      const [endedFrom, endedTo] = [diedAt(two), diedAt(one)]
      const [gone, ...others] = await all(page => store.causes({ ...page, tenant: TENANT }))
      assert.ok(gone?.reason === 'permanent' && others.length === 1)
      assert.deepEqual(gone.sampleTaskIds, idsOf([three, two, four]), 'those that died first')
      const cases: [TaskFilter, readonly Task[]][] = [
        [{}, [one, four, two, three]],
        [{ endedFrom }, [one, four, two]],
        [{ endedTo }, [four, two, three]],
        [{ endedFrom, endedTo }, [four, two]],
        [{ endedFrom: diedAt(one) + 1 }, []],
        [{ reason: 'permanent' }, [four, two, three]],
        [{ reason: 'permanent', endedFrom }, [four, two]],
        [{ reason: 'deadline' }, []],
        [{ causeId: gone.causeId }, [four, two, three]],
        [{ causeId: gone.causeId, endedTo: diedAt(two) }, [three]],
        [{ causeId: 'unheard-of' }, []],
        [{ destination: one.destination }, [one]],
        [{ destination: one.destination, causeId: gone.causeId }, []],
        [{ policyId: 'payments' }, [three]],
        [{ errorCode: 'http-503' }, [one]],
        [{ attemptFrom: 2 }, []],
        [{ tenant: 'other' }, []],
      ]
      for (const [filter, wanted] of cases)
        for (const order of ['newest-first', 'oldest-death-first'] as const) {
          const expected = order === 'newest-first' ? wanted : wanted.toReversed()
          assert.deepEqual(await listed({ ...DEAD, ...filter }, order), idsOf(expected), JSON.stringify(filter))
        }
    })

    it('goes on where its page ended, whatever was brought back meanwhile', async () => {
      const setting = await sit(open)
      const { store, ended, firstPage, clock } = setting
      const dead: Task[] = []
      for (let n = 0; n < 4; n++) {
        dead.push(await ended(giveUp))
        await clock.advance(10)
      }
      const [first, second, third, fourth] = dead
      assert.ok(first && second && third && fourth)
      const ask = { filter: DEAD, order: 'oldest-death-first' } as const
      const shown = await firstPage(page => store.list({ ...ask, ...page }))
      await store.replay([replayOf(first, clock.now()), replayOf(third, clock.now())])
      const rest = await setting.all(page => store.list({ ...ask, cursor: shown.nextCursor, ...page }))
      const seen = idsOf([...shown.items, ...rest])
      assert.deepEqual(new Set(seen), new Set(idsOf([first, second, fourth])))
      assert.equal(seen.length, 3)
    })

    it('has a task again when it dies again, at its new place', async () => {
      const setting = await sit(open)
      const { ended, claimOne, settle, replay, listed, clock } = setting
      const [one, other] = [await ended(giveUp), await ended(giveUp)]
      await clock.advance(10)
      await replay(replayOf(one, clock.now()))
      assert.deepEqual(await listed(DEAD), [other.taskId])
      await settle(giveUp(await claimOne({ queue: REPLAYED })))
      assert.deepEqual(await listed(DEAD), idsOf([one, other]))
    })

    it('has tasks that expired in their queue', async () => {
      const { store, add, take, listed, clock } = await sit(open)
      const { taskId } = await add({ progress: { expiresAt: clock.now() } })
      await store.expire({ partition: PARTITION, steward: await take(), lane: LANE, queue: FIRSTS, limit: 10 })
      assert.deepEqual(await listed({ ...DEAD, reason: 'deadline' }), [taskId])
    })
  })
}

interface FourDeaths {
  readonly one: Task
  readonly two: Task
  readonly three: Task
  readonly four: Task
}

/** They arrive in the order of their names. Three dies first, then two and four together, then one. */
async function fourDeaths({ store, add, ended, claimOne, get, clock }: Setting): Promise<FourDeaths> {
  const arrived = [await add({ destination: 'https://one.example' }), await add(), await add({ policyId: 'payments' })]
  const last = await add()
  const gone = { outcome: 'permanent', responseStatus: 410 } as const
  await ended(succeed, { destination: 'https://fine.example' })
  const three = await claimOne({ queue: 'normal first payments' })
  await store.settle([giveUp(three, 'permanent', gone)])
  await clock.advance(1_000)
  const [two, four] = [await claimOne(), await claimOne()]
  await store.settle([giveUp(four, 'permanent', gone), giveUp(two, 'permanent', gone)])
  await clock.advance(1_000)
  const one = await claimOne({ lane: `${TENANT} https://one.example` })
  await store.settle([giveUp(one)])
  assert.deepEqual(idsOf([one, two, three, four]), idsOf([...arrived, last]))
  return { one: await get(one), two: await get(two), three: await get(three), four: await get(four) }
}

function diedAt({ state }: Task): number {
  assert.ok(state.status === 'EXHAUSTED')
  return state.endedAt
}
