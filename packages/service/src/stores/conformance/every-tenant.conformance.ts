import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { Task } from '../../task/task.ts'
import type { TaskFilter } from '../task-store.ts'
import { sit, type OpenStore, type Setting } from './exam.test-kit.ts'
import { giveUp } from './tasks.test-kit.ts'

const [ONE, OTHER] = ['https://a.example', 'https://b.example']

/** Tasks of three tenants for two destinations, those of each between those of the others; every third is dead. */
async function mixedTasks({ add, ended, get }: Setting): Promise<Task[]> {
  const tasks: { readonly taskId: string }[] = []
  for (let n = 0; n < 18; n++) {
    const changes = { tenant: ['acme', 'acme-1', 'beta'][n % 3]!, destination: n % 2 === 0 ? ONE : OTHER }
    const end = { outcome: 'transient', responseStatus: 500 + (n % 2) } as const
    if (n % 9 < 3) tasks.push(await ended(task => giveUp(task, 'attempts', end), changes))
    else tasks.push(await add(changes))
  }
  return Promise.all(tasks.map(get))
}

/** What is asked for without naming a tenant. */
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
        [{ status: 'PENDING', destination: OTHER }, task => isWaiting(task) && task.destination === OTHER],
        [{ createdFrom: tasks[0]!.createdAt, destination: ONE }, task => task.destination === ONE],
      ]
      for (const limit of [1, 4, 50])
        for (const [filter, isWanted] of cases)
          assert.deepEqual(
            (await all(page => store.list({ ...page, filter }), limit)).map(({ taskId }) => taskId),
            tasks
              .filter(isWanted)
              .map(({ taskId }) => taskId)
              .toReversed(),
            JSON.stringify(filter),
          )
    })

    it('a list by key has the task of each tenant that was given it, and one without a key under its id once', async () => {
      const { store, add, all } = await sit(open)
      const keyed = [await add({ idempotencyKey: 'k' }), await add({ idempotencyKey: 'k', tenant: 'other' })]
      const keyless = await add({ tenant: 'other' })
      const found = async (idempotencyKey: string): Promise<readonly string[]> =>
        (await all(page => store.list({ ...page, filter: { idempotencyKey } }), 50))
          .map(({ taskId }) => taskId)
          .toSorted()
      assert.deepEqual(await found('k'), keyed.map(({ taskId }) => taskId).toSorted())
      assert.deepEqual(await found(keyless.taskId), [keyless.taskId])
    })

    it('causes are those of all, the most numerous first, and each says whose it is', async () => {
      const setting = await sit(open)
      const { store, all, ended } = setting
      await mixedTasks(setting)
      for (let n = 0; n < 2; n++) await ended(giveUp, { tenant: 'beta', destination: ONE })
      for (const destination of [undefined, ONE])
        for (const limit of [1, 3, 50]) {
          const place = destination === undefined ? {} : { destination }
          const causes = await all(page => store.causes({ ...page, ...place }), limit)
          const apart = await Promise.all(
            ['acme', 'acme-1', 'beta'].map(tenant => all(page => store.causes({ ...page, ...place, tenant }), 50)),
          )
          assert.deepEqual(
            causes,
            apart.flat().toSorted((a, b) => b.count - a.count || (a.causeId < b.causeId ? -1 : 1)),
          )
          assert.equal(causes[0]!.tenant, 'beta')
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
