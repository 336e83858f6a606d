import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { seededRandom, virtualClock } from '@secondwind/resilience/testing'
import { describe, it, onTestFinished, vi } from 'vitest'
import { openDirectoryBodies } from '../bodies/directory/directory-bodies.ts'
import { nameAt } from '../bodies/location.ts'
import { aSink, temporaryDirectory, until } from '../service.test-kit.ts'
import { everything } from '../stores/exam/exam.test-kit.ts'
import { openSqliteStore } from '../stores/sqlite/sqlite-store.ts'
import { sweepBodies } from '../upkeep/body-sweep.ts'
import { throughCrashes } from './service-process.test-kit.ts'

// Processes, sockets and disks take as long as the machine lets them.
vi.setConfig({ testTimeout: 180_000 })

const SEED = 20_261_117
const ROUNDS = 4
const DAY_MS = 86_400_000

function refOf(bytes: Uint8Array): string {
  return `sha256-${createHash('sha256').update(bytes).digest('hex')}`
}

/** Where files lie, by their location. */
function filesIn(data: string): Map<string, Buffer> {
  const bodies = join(data, 'bodies')
  const files = readdirSync(bodies, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  return new Map(
    files.map(({ parentPath, name }) => [
      join(parentPath, name).slice(bodies.length + 1),
      readFileSync(join(parentPath, name)),
    ]),
  )
}

async function uploadHalf(url: string): Promise<void> {
  const { port, hostname, host } = new URL(url)
  const socket = connect(Number(port), hostname).on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  socket.write(`POST /bodies HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 100000\r\n\r\n${'x'.repeat(50_000)}`)
}

describe('large bodies of a service that is killed again and again', () => {
  it('are there once they were answered, are never half there, and leave nothing behind', async () => {
    const [data, sink] = [temporaryDirectory(), await aSink()]
    const random = seededRandom(SEED)
    const uploaded = new Map<string, Uint8Array>()
    const tried = new Set<string>()
    const asked = new Set<string>()
    const tasks = new Map<string, string>()
    const halves = new Set<string>()

    const service = await throughCrashes({ data, rounds: ROUNDS, random }, async url => {
      if (!halves.has(url)) {
        halves.add(url)
        await uploadHalf(url)
      }
      const bytes = randomBytes(70_000 + Math.floor(random() * 400_000))
      const bodyRef = refOf(bytes)
      tried.add(bodyRef)
      const answered = await fetch(`${url}/bodies`, { method: 'POST', body: bytes })
      await answered.arrayBuffer()
      assert.equal(answered.status, 201)
      uploaded.set(bodyRef, bytes)
      if (random() < 0.5) return
      asked.add(bodyRef)
      const task = await fetch(`${url}/retry-tasks`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ targetUrl: sink.url, method: 'POST', bodyRef, delayMs: 3_600_000 }),
      })
      const { taskId } = (await task.json()) as { taskId: string }
      assert.equal(task.status, 201)
      tasks.set(taskId, bodyRef)
    })
    assert.ok(uploaded.size > ROUNDS && tasks.size > 1, `${uploaded.size} uploads, ${tasks.size} tasks`)

    for (const [bodyRef, bytes] of uploaded) {
      const answered = await fetch(`${service.url}/bodies/${bodyRef}`)
      assert.equal(answered.status, 200)
      assert.ok(Buffer.from(await answered.arrayBuffer()).equals(bytes), bodyRef)
    }
    const unfinished = (): string[] => [...filesIn(data).keys()].filter(location => location.startsWith('_arriving/'))
    assert.deepEqual(unfinished(), [], 'what was cut off has outlived a start')
    await uploadHalf(service.url)
    await until(
      async () => unfinished().length > 0,
      isSo => isSo,
    )
    await service.kill()
    const left = filesIn(data)
    for (const [location, bytes] of left)
      if (!location.startsWith('_arriving/')) assert.ok(tried.has(refOf(bytes)), `${location} is half a file`)
    assert.equal(unfinished().length, 1)

    const store = await openSqliteStore({ directory: data })
    onTestFinished(() => store.close())
    const ask = { filter: { tenant: 'default' }, order: 'newest-first' } as const
    const listed = await everything(page => store.list({ ...page, ...ask }), 200)
    const needed = new Set(listed.map(({ request }) => request.storedBody!.bodyRef))
    for (const [taskId, bodyRef] of tasks)
      assert.ok(needed.has(bodyRef) && listed.some(task => task.taskId === taskId), `${taskId} is gone`)

    // Two days later, by the clock that says how old a file is.
    const clock = virtualClock({ now: Date.now() + 2 * DAY_MS })
    const bodies = await openDirectoryBodies({ directory: join(data, 'bodies') })
    await sweepBodies({ store, bodies, clock, signal: new AbortController().signal })
    const locations = [...filesIn(data).keys()]
    const records = await store.bodies(locations.map(location => nameAt(location)!))
    assert.deepEqual(
      records.map(record => record.location),
      locations,
    )
    const kept = new Set([...filesIn(data).values()].map(refOf))
    for (const bodyRef of uploaded.keys()) assert.ok(kept.has(bodyRef), `${bodyRef} was swept too early`)

    // After their day only bodies are left that tasks need, or would need if the service had not died before it took them.
    const unneeded = await store.sweepBodies({ neededBefore: Date.now() + 2 * DAY_MS, limit: 100_000 })
    for (const location of unneeded.locations) await bodies.remove(location)
    const last = new Set([...filesIn(data).values()].map(refOf))
    for (const bodyRef of needed) assert.ok(last.has(bodyRef), `${bodyRef} was swept, and a task needs it`)
    for (const bodyRef of last) assert.ok(asked.has(bodyRef), `${bodyRef} is kept for no task`)
  })
})
