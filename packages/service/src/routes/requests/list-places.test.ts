import { virtualClock } from '@secondwind/resilience/testing'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { guarded } from '../access/guarded.test-kit.ts'
import type { Answered } from '../api.test-kit.ts'

/** An API whose store answers no list before it is told to. */
async function slowLists() {
  const clock = virtualClock()
  const store = openMemoryStore({ clock })
  let open = (): void => {}
  const opened = new Promise<void>(resolve => (open = resolve))
  const list: typeof store.list = async ask => {
    await opened
    return store.list(ask)
  }
  const served = await guarded({ clock, store: { ...store, list }, limits: { lists: 200 } })
  const keyOf = async (tenant: string): Promise<string> => {
    await served.addTenant(tenant)
    return served.keyFor(tenant, 'read')
  }
  const listAs = (key: string): Promise<Answered> => served.as('GET', '/retry-tasks', { key })
  return { served, keyOf, listAs, open }
}

describe('lists under way', () => {
  it('are bounded: a tenant leaves places for others and for operators, and is told when to come back', async () => {
    const { served, keyOf, listAs, open } = await slowLists()
    const [greedy, other] = [await keyOf('greedy'), await keyOf('other')]
    const refused: Answered[] = []
    const enough = new Promise<void>(resolve => {
      const askOne = async (): Promise<void> => {
        const answer = await listAs(greedy)
        if (answer.status === 429 && refused.push(answer) === 20) resolve()
      }
      for (let asked = 0; asked < 200; asked++) void askOne()
    })
    await enough
    const [first] = refused
    assert.deepEqual([first!.json.code, Number(first!.headers['retry-after']) >= 1], ['too-many-lists', true])
    const admitted = [listAs(other), listAs(served.operator)]
    open()
    assert.deepEqual(
      (await Promise.all(admitted)).map(({ status }) => status),
      [200, 200],
    )
    assert.equal(refused.length, 20)
  })

  it('give their places back, whatever was answered', async () => {
    const { keyOf, listAs, served, open } = await slowLists()
    const key = await keyOf('busy')
    open()
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all(Array.from({ length: 100 }, () => listAs(key)))
      assert.ok(answers.every(({ status }) => status === 200))
      const broken = Array.from({ length: 100 }, () => served.as('GET', '/retry-tasks?cursor=none', { key }))
      assert.ok((await Promise.all(broken)).every(({ status }) => status === 400))
    }
  })
})
