import assert from 'node:assert/strict'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import { uploaded } from '../bodies/bodies.test-kit.ts'
import type { KeptBody } from '../bodies/body-store.ts'
import { openMemoryBodies } from '../bodies/memory/memory-bodies.ts'
import { neededAfterUpload } from '../bodies/needed-until.ts'
import { TENANT } from '../stores/exam/tasks.test-kit.ts'
import { openMemoryStore } from '../stores/sqlite/sqlite-store.ts'
import type { StoreHealth } from '../stores/store.ts'
import { keepBodiesTidy, sweepBodies } from './body-sweep.ts'

const DAY_MS = 86_400_000
const TEN_MINUTES_MS = 600_000

function setting() {
  const clock = virtualClock()
  const store = openMemoryStore({ clock })
  const bodies = openMemoryBodies({ clock })
  const controller = new AbortController()
  const problems: unknown[] = []
  const onProblem = (error: unknown): void => void problems.push(error)
  const parts = { store, bodies, clock, signal: controller.signal, onProblem }
  const bytesOf = (text: string, tenant = TENANT) => ({ tenant, bytes: [Buffer.from(text)], mostBytes: 1_000 })
  const upload = (text: string, tenant = TENANT): Promise<KeptBody> =>
    uploaded(parts, text, { tenant, neededUntil: neededAfterUpload(clock.now()) })
  const isThere = async ({ location }: KeptBody): Promise<boolean> => (await bodies.read(location)) !== undefined
  return { clock, store, bodies, problems, parts, bytesOf, upload, isThere, stop: () => controller.abort() }
}

describe('the sweep of bodies', () => {
  it('removes an upload after its day, its bytes too, and spares the bodies that are needed for longer', async () => {
    const { clock, store, parts, upload, isThere, stop, problems } = setting()
    const [unused, needed] = [await upload('unused'), await upload('needed')]
    await store.bodies([needed], clock.now() + 2 * DAY_MS)
    const sweeping = keepBodiesTidy(parts)
    await clock.advance(DAY_MS)
    assert.equal(await isThere(unused), true)
    const late = await upload('late')
    await clock.advance(TEN_MINUTES_MS + 1)
    assert.deepEqual([await isThere(unused), await isThere(needed), await isThere(late)], [false, true, true])
    assert.deepEqual(await store.bodies([unused]), [])
    stop()
    await sweeping
    assert.deepEqual(problems, [])
  })

  it('removes bytes that no row names, however many, once they are a day old', async () => {
    const { clock, bodies, parts, bytesOf, upload, isThere } = setting()
    const rowless: KeptBody[] = []
    for (let n = 0; n < 450; n++) rowless.push(await bodies.put(bytesOf(String(n))))
    await clock.advance(DAY_MS)
    const known = await upload('known')
    await sweepBodies(parts)
    assert.equal(await isThere(rowless[0]!), true)
    await clock.advance(1)
    await sweepBodies(parts)
    for (const each of rowless) assert.equal(await isThere(each), false)
    assert.equal(await isThere(known), true)
  })

  it('removes bytes whose row names others, and never another tenant’s of the same name', async () => {
    const { clock, store, bodies, parts, bytesOf, upload, isThere } = setting()
    const left = await bodies.put(bytesOf('same'))
    const [mine, theirs] = [await upload('same'), await upload('same', 'other')]
    await store.bodies([mine, theirs], clock.now() + 9 * DAY_MS)
    const rowless = await bodies.put(bytesOf('same', 'third'))
    await clock.advance(2 * DAY_MS)
    await sweepBodies(parts)
    assert.deepEqual([await isThere(left), await isThere(rowless)], [false, false])
    assert.deepEqual([await isThere(mine), await isThere(theirs)], [true, true])
  })

  it('reports a failure, and goes on the next time', async () => {
    const { clock, bodies, parts, problems, upload, isThere, stop } = setting()
    const unused = await upload('unused')
    const failure = new Error('no disk')
    let isBroken = true
    const flaky = { ...bodies, remove: (at: string) => (isBroken ? Promise.reject(failure) : bodies.remove(at)) }
    const sweeping = keepBodiesTidy({ ...parts, bodies: flaky })
    await clock.advance(DAY_MS + TEN_MINUTES_MS + 1)
    assert.deepEqual(problems, [failure])
    isBroken = false
    await clock.advance(TEN_MINUTES_MS)
    assert.equal(await isThere(unused), false)
    stop()
    await sweeping
  })

  it('removes nothing by a clock that is far ahead, nor by a file that is damaged or replaced', async () => {
    const { clock, store, parts, upload, isThere } = setting()
    const unused = await upload('unused')
    await clock.advance(2 * DAY_MS)
    const wrong: readonly Partial<StoreHealth>[] = [
      { clockSkewMs: -DAY_MS },
      { lasting: 'store-corrupt' },
      { lasting: 'store-unreachable' },
    ]
    for (const found of wrong) {
      const health = async (): Promise<StoreHealth> => ({ ...(await store.health()), ...found })
      await sweepBodies({ ...parts, store: { ...store, health } })
      assert.equal(await isThere(unused), true)
    }
    await sweepBodies(parts)
    assert.equal(await isThere(unused), false)
  })
})
