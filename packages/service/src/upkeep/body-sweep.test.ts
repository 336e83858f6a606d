import assert from 'node:assert/strict'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import type { KeptBody } from '../bodies/body-store.ts'
import { openMemoryBodies } from '../bodies/memory/memory-bodies.ts'
import { NO_LIMITS } from '../stores/conformance/exam.test-kit.ts'
import { newTask, TENANT } from '../stores/conformance/tasks.test-kit.ts'
import { openMemoryStore } from '../stores/memory/memory-store.ts'
import { keepBodiesTidy } from './body-sweep.ts'

const DAY_MS = 86_400_000
const TEN_MINUTES_MS = 600_000

function setting() {
  const clock = virtualClock()
  const store = openMemoryStore({ clock })
  const bodies = openMemoryBodies({ clock })
  const controller = new AbortController()
  const problems: unknown[] = []
  const parts = { store, clock, signal: controller.signal, onProblem: (error: unknown) => void problems.push(error) }
  const upload = async (text: string): Promise<KeptBody> => {
    const kept = await bodies.put([Buffer.from(text)], 1_000)
    await store.putBody({ tenant: TENANT, ...kept, contentType: 'text/plain', mostBytes: 1_000 })
    return kept
  }
  const isThere = async ({ location }: KeptBody): Promise<boolean> => (await bodies.read(location)) !== undefined
  return { clock, store, bodies, problems, parts, upload, isThere, stop: () => controller.abort() }
}

describe('the sweep of bodies', () => {
  it('removes what no task needed for a day, its bytes too, and spares what one needs', async () => {
    const { clock, store, bodies, parts, upload, isThere, stop, problems } = setting()
    const [unused, needed] = [await upload('unused'), await upload('needed')]
    const request = { targetUrl: 'https://api.example/', method: 'POST', headers: {}, body: null, storedBody: needed }
    await store.enqueue([newTask(1, clock.now(), { request })], NO_LIMITS)
    const sweeping = keepBodiesTidy({ ...parts, bodies })
    await clock.advance(DAY_MS)
    assert.equal(await isThere(unused), true)
    const late = await upload('late')
    await clock.advance(TEN_MINUTES_MS + 1)
    assert.deepEqual([await isThere(unused), await isThere(needed), await isThere(late)], [false, true, true])
    assert.equal(await store.body({ tenant: TENANT, bodyRef: unused.bodyRef }), undefined)
    stop()
    await sweeping
    assert.deepEqual(problems, [])
  })

  it('removes bytes that no row knows of, however many, once they are a day old', async () => {
    const { clock, bodies, parts, upload, isThere, stop } = setting()
    const orphans: KeptBody[] = []
    for (let n = 0; n < 450; n++) orphans.push(await bodies.put([Buffer.from(String(n))], 1_000))
    await clock.advance(DAY_MS)
    const known = await upload('known')
    const sweeping = keepBodiesTidy({ ...parts, bodies })
    await clock.advance(TEN_MINUTES_MS)
    for (const orphan of orphans) assert.equal(await isThere(orphan), false)
    assert.equal(await isThere(known), true)
    stop()
    await sweeping
  })

  it('tells of a failure, and goes on the next time', async () => {
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
})
