import assert from 'node:assert/strict'
import { verifySignature } from '@secondwind/client/signature'
import { seededRandom } from '@secondwind/resilience/testing'
import { describe, it, vi } from 'vitest'
import { aSink, temporaryDirectory, until } from '../service.test-kit.ts'
import { startProcess, throughCrashes } from './service-process.test-kit.ts'

// Processes, sockets and disks take as long as the machine lets them.
vi.setConfig({ testTimeout: 180_000 })

const SEED = 20_261_118
const ROUNDS = 4

interface Shown {
  readonly taskId: string
  readonly idempotencyKey: string
  readonly status: string
  readonly reason?: string
  readonly attemptNumber: number
}

async function post<Answer>(url: string, body: object): Promise<Answer> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  const answer = (await response.json()) as Answer
  assert.equal(response.status, 201)
  return answer
}

async function tasksAt(url: string, destination: string): Promise<Shown[]> {
  const tasks: Shown[] = []
  for (let cursor = ''; ;) {
    const page = await fetch(`${url}/retry-tasks?limit=200&destination=${encodeURIComponent(destination)}${cursor}`)
    const { items, nextCursor } = (await page.json()) as { items: Shown[]; nextCursor?: string }
    tasks.push(...items)
    if (nextCursor === undefined) return tasks
    cursor = `&cursor=${encodeURIComponent(nextCursor)}`
  }
}

describe('callbacks of a service that is killed again and again', () => {
  it('are one task for each end, delivered, signed, and never told of themselves', async () => {
    const data = temporaryDirectory()
    const target = await aSink(({ path }, response) => void response.writeHead(path === '/bad' ? 400 : 200).end())
    // One in ten is told twice before it listens: callbacks are retried across the crashes, too.
    const seen = new Set<string>()
    const told = await aSink(({ body }, response) => {
      response.writeHead(seen.has(body) || seen.size % 10 > 0 ? 200 : 503).end()
      seen.add(body)
    })
    const first = await startProcess(data)
    const { secret } = await post<{ secret: string }>(`${first.url}/secrets`, {})
    await first.kill()
    const random = seededRandom(SEED)
    const accepted: string[] = []
    const service = await throughCrashes({ data, rounds: ROUNDS, random }, async url => {
      const targetUrl = `${target.url}/${random() < 0.5 ? 'bad' : 'good'}`
      const order = { targetUrl, method: 'POST', callbackUrl: `${told.url}/ends` }
      accepted.push((await post<Shown>(`${url}/retry-tasks`, order)).taskId)
    })
    assert.ok(accepted.length > 5 * ROUNDS, `only ${accepted.length} accepted`)

    // Tasks whose callers got no answer are there too, and have an end to be told of like any other.
    const { tasks, callbacks } = await until(
      async () => ({
        tasks: await tasksAt(service.url, target.url),
        callbacks: await tasksAt(service.url, told.url),
      }),
      ends =>
        ends.tasks.every(({ status }) => status === 'SUCCEEDED' || status === 'EXHAUSTED') &&
        ends.callbacks.length >= ends.tasks.length &&
        ends.callbacks.every(({ status }) => status === 'SUCCEEDED'),
    )
    for (const taskId of accepted)
      assert.ok(
        tasks.some(task => task.taskId === taskId),
        `${taskId} is gone`,
      )
    assert.deepEqual(
      callbacks.map(({ idempotencyKey }) => idempotencyKey).toSorted(),
      tasks.map(({ taskId }) => `callback-${taskId}-1`).toSorted(),
    )
    for (const { taskId, status, reason, attemptNumber } of tasks) {
      const text = JSON.stringify({ taskId, status, ...(reason !== undefined && { reason }), attemptNumber })
      const arrived = told.arrivals.filter(({ body }) => body === text)
      assert.ok(arrived.length >= 1, `${taskId} was never told`)
      for (const { headers, body } of arrived) {
        const fields = new Headers(headers as Record<string, string>)
        await verifySignature({ headers: fields, body }, secret, { toleranceMs: 600_000 })
      }
      assert.equal(new Set(arrived.map(({ headers }) => headers['webhook-id'])).size, 1, `${taskId} was told twice`)
    }
    const ended = new Set(tasks.map(({ taskId }) => taskId))
    for (const { body } of told.arrivals) assert.ok(ended.has((JSON.parse(body) as Shown).taskId), body)
  })
})
