import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { Task } from '../../task/task.ts'
import type { TaskFilter } from '../store.ts'
import { idsOf, sit, type OpenStore, type Setting } from './exam.test-kit.ts'
import { giveUp } from './tasks.test-kit.ts'

const [ONE, OTHER] = ['https://a.example', 'https://b.example']
const TENANTS = ['acme', 'acme-1', 'beta'] as const

/** Tasks of three tenants for two destinations, in turns; every third is dead, and no two died at one instant. */
async function mixedTasks({ add, ended, get, clock }: Setting): Promise<Task[]> {
  const tasks: { readonly taskId: string }[] = []
  for (let n = 0; n < 18; n++) {
    const changes = { tenant: TENANTS[n % 3] ?? '', destination: n % 2 === 0 ? ONE : OTHER }
    const end = { outcome: 'transient', responseStatus: 500 + (n % 2) } as const
    if (n % 9 < 3) tasks.push(await ended(task => giveUp(task, 'attempts', end), changes))
    else tasks.push(await add(changes))
    await clock.advance(1)
  }
  return Promise.all(tasks.map(get))
}

export function examineEveryTenant(open: OpenStore): void {
  describe('without a tenant', () => {
    it('a list has the tasks of all, the newest first, each once, in pages of any size', async () => {
      const setting = await sit(open)
      const { store, all } = setting
      const tasks = await mixedTasks(setting)
      const cases: [TaskFilter, (task: Task) => boolean][] = [
        [{}, () => true],
        [{ destination: ONE }, task => task.destination === ONE],
        [{ destination: 'https://nowhere.example' }, () => false],
        [{ status: 'EXHAUSTED' }, isDead],
        [{ status: 'EXHAUSTED', destination: OTHER }, task => isDead(task) && task.destination === OTHER],
        [{ status: 'IN_FLIGHT' }, task => task.state.status === 'IN_FLIGHT'],
        [{ status: 'PENDING', destination: OTHER }, task => isWaiting(task) && task.destination === OTHER],
        [{ createdFrom: tasks[3]?.createdAt ?? 0, destination: ONE }, task => task.destination === ONE],
      ]
      for (const limit of [1, 4, 50])
        for (const [filter, isWanted] of cases) {
          const from = filter.createdFrom ?? 0
          const wanted = tasks.filter(task => isWanted(task) && task.createdAt >= from)
          const found = await all(page => store.list({ ...page, filter, order: 'newest-first' }), limit)
          assert.deepEqual(idsOf(found), idsOf(wanted).toReversed(), JSON.stringify(filter))
        }
    })

    it('lists by death and by the next attempt have the tasks of all', async () => {
      const setting = await sit(open)
      const { store, all } = setting
      const tasks = await mixedTasks(setting)
      const dead = { filter: { status: 'EXHAUSTED' }, order: 'oldest-death-first' } as const
      assert.deepEqual(idsOf(await all(page => store.list({ ...dead, ...page }))), idsOf(tasks.filter(isDead)))
      const due = { filter: { status: 'PENDING' }, order: 'due-first' } as const
      assert.deepEqual(idsOf(await all(page => store.list({ ...due, ...page }))), idsOf(tasks.filter(isWaiting)))
    })

    it('causes are those of all, the most numerous first, and each says whose it is', async () => {
      const setting = await sit(open)
      const { store, all, ended } = setting
      await mixedTasks(setting)
      for (let n = 0; n < 2; n++) await ended(giveUp, { tenant: 'beta', destination: ONE })
      for (const place of [{}, { destination: ONE }])
        for (const limit of [1, 3, 50]) {
          const causes = await all(page => store.causes({ ...page, ...place }), limit)
          const apart = await Promise.all(
            TENANTS.map(tenant => all(page => store.causes({ ...page, ...place, tenant }), 50)),
          )
          const expected = apart.flat().toSorted((a, b) => b.count - a.count || (a.causeId < b.causeId ? -1 : 1))
          assert.deepEqual(causes, expected)
          assert.equal(causes[0]?.tenant, 'beta')
        }
    })
  })
}

function isDead({ state }: Task): boolean {
  return state.status === 'EXHAUSTED'
}

function isWaiting({ state }: Task): boolean {
  return state.status === 'PENDING'
}
