import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { historyOf, retry, systemClock, type RetryEvent } from '@secondwind/resilience'
// #region fetch-import
import { createClient, describeRequest, handOver, type HandedOver } from '@secondwind/client'
import { createFetch } from '@secondwind/resilience/fetch'
// #endregion
import { describe, it, onTestFinished, vi } from 'vitest'
import { charge } from './charge.test-kit.ts'
import { aService, aTarget, type Target } from './service.test-kit.ts'

// Processes, sockets and disks take as long as the machine lets them.
vi.setConfig({ testTimeout: 60_000 })

const CALLER = fileURLToPath(new URL('hand-over-caller.test-kit.ts', import.meta.url))

/** The attempts that reached the target: 1, 2, 3 … without a gap, all under one key and with one body. */
function assertOneOperation({ arrivals }: Target, key: string): void {
  assert.deepEqual(
    arrivals.map(({ attempt }) => attempt),
    arrivals.map((_, place) => place + 1),
  )
  assert.deepEqual([...new Set(arrivals.map(arrival => arrival.key))], [key])
  assert.equal(new Set(arrivals.map(arrival => arrival.body)).size, 1)
}

describe('one policy, from milliseconds in process to hours in the service', () => {
  it('goes on with the next attempt, under the same key and by the same document', async () => {
    const [service, target] = await Promise.all([aService(), aTarget()])
    const client = createClient({ url: service.url })
    const answer = await charge({ order: '8812', serviceUrl: service.url, paymentsUrl: target.url })
    assert.ok('kind' in answer && answer.kind === 'handed-over')
    assert.ok(target.arrivals.length >= 3)

    const task = await client.tasks.get(answer.taskId)
    assert.equal(task.idempotencyKey, 'charge-8812')
    const { maxAttempts, totalBudgetMs, inProcess } = task.policy!
    assert.deepEqual([maxAttempts, totalBudgetMs, inProcess?.maxAttempts], [40, 86_400_000, 3])
    assert.ok(task.expiresAt < task.createdAt + totalBudgetMs, 'the time that was spent in process is part of it')

    while (target.arrivals.length < 5) await systemClock.sleep(20)
    target.isUp = true
    // #region wait
    const { status, attemptNumber } = await client.waitFor(answer.taskId, { deadline: { inMs: 30_000 } })
    // #endregion
    assert.equal(status, 'SUCCEEDED')
    assert.equal(attemptNumber, target.arrivals.length)
    assertOneOperation(target, 'charge-8812')
    const log: number[] = []
    for await (const attempt of client.tasks.attempts(answer.taskId)) log.push(attempt.attemptNumber)
    assert.deepEqual(
      log,
      target.arrivals.slice(3).map(({ attempt }) => attempt),
    )
  })

  it('succeeds though the caller is killed as soon as it has handed over', async () => {
    const [service, target] = await Promise.all([aService(), aTarget()])
    const { taskId } = await chargeAndDie({ serviceUrl: service.url, paymentsUrl: target.url })
    target.isUp = true
    const task = await createClient({ url: service.url }).waitFor(taskId, { deadline: { inMs: 30_000 } })
    assert.equal(task.status, 'SUCCEEDED')
    assert.ok(target.arrivals.length > 3)
    assertOneOperation(target, 'charge-8813')
  })

  it('hands over a call of fetch as it stands', async () => {
    const [service, target] = await Promise.all([aService(), aTarget()])
    const client = createClient({ url: service.url })
    const policy = { maxAttempts: 40, initialDelayMs: 20, maxDelayMs: 500, inProcess: { maxAttempts: 2 } }
    const targetUrl = target.url
    vi.spyOn(console, 'info').mockReturnValue()
    // #region fetch
    const patientFetch = createFetch(policy, { onExhausted: handOver(client, describeRequest) })

    const answer = await patientFetch(targetUrl, { method: 'POST', body: 'Grüße', idempotencyKey: 'order-8814' })
    if ('kind' in answer) console.info(`on its way, as ${answer.taskId}`)
    else console.info(`answered with ${answer.status}`)
    // #endregion
    target.isUp = true
    const { status } = await client.waitFor((answer as HandedOver).taskId, { deadline: { inMs: 30_000 } })
    assert.equal(status, 'SUCCEEDED')
    assertOneOperation(target, 'order-8814')
    assert.equal(target.arrivals[0]!.body, 'Grüße')
    assert.equal(historyOf(answer)!.reason, 'handed-over')
  })

  it('ends with the own last error when the service is away, and tells of it', async () => {
    const target = await aTarget()
    const client = createClient({ url: 'http://127.0.0.1:9', policy: { maxAttempts: 2, initialDelayMs: 1 } })
    const own = Object.assign(new Error('the charge failed'), { status: 503 })
    const logged: unknown[] = []
    const log = (...words: readonly unknown[]): unknown => logged.push(words)
    const work = (): Promise<never> => Promise.reject(own)
    const policy = { maxAttempts: 9, initialDelayMs: 1, inProcess: { maxAttempts: 2 } }
    const describeCharge = () => ({ targetUrl: target.url })
    // #region away
    const telemetry = (event: RetryEvent) => {
      if (event.kind === 'exhausted-hook-failed') log('could not be handed over', event.error)
    }
    const answer = retry(work, policy, { telemetry, onExhausted: handOver(client, describeCharge) })
    // #endregion
    await assert.rejects(answer, own)
    assert.match(String(logged), /could not be handed over,UnreachableError: POST \/retry-tasks got no answer/)
  })
})

/** Runs the caller as a process of its own, and kills it the moment it says that it has handed over. */
async function chargeAndDie(urls: { serviceUrl: string; paymentsUrl: string }): Promise<HandedOver> {
  const words = ['--conditions=@secondwind/source', CALLER, urls.serviceUrl, urls.paymentsUrl, '8813']
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const closed = once(child, 'close')
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), 'line'),
    closed.then(([code]) => assert.fail(`the caller ended with ${code} before it handed over`)),
  ])) as [string]
  child.kill('SIGKILL')
  await closed
  assert.equal(child.signalCode, 'SIGKILL')
  const answer = JSON.parse(line) as HandedOver
  assert.equal(answer.kind, 'handed-over')
  return answer
}
