/**
 * A service with keys that delivers tasks, one at a time. Started with its directory; prints the files that each of the
 * tasks crossed, as JSON.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DEFAULT_CONFIG } from '../config.ts'
import { startService } from '../service.ts'
import { startCoverage } from './coverage.test-kit.ts'

/** After these the service has read keys and policy, and its connections are open. They are not counted. */
const WARM_UP = 5

/** A file counts when each of these crossed it. Work that the service does each second coincides with one or two of them. */
const TASKS = 10

const [data] = process.argv.slice(2) as [string]

const sink = createServer((request, response) => void request.resume().on('end', () => response.end('{}')))
sink.listen(0, '127.0.0.1')
await once(sink, 'listening')
const sinkUrl = `http://127.0.0.1:${(sink.address() as AddressInfo).port}`

let onTaskEnded = (): void => {}
const service = await startService({
  config: { ...DEFAULT_CONFIG, port: 0, data, allowTarget: ['127.0.0.0/8'] },
  isDevelopment: false,
  log: () => {},
  logLevel: 'info',
  events: {
    attemptEnded: () => {},
    taskChanged: () => {},
    taskEnded: () => onTaskEnded(),
    held: () => {},
    breakerChanged: () => {},
    orphan: () => {},
    taskOperated: () => {},
    warning: (code, text) => assert.fail(`${code}: ${text}`),
  },
})

async function create(path: string, document: object, key?: string): Promise<{ readonly key: string }> {
  const response = await fetch(service.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(document),
  })
  const text = await response.text()
  assert.equal(response.status, 201, text)
  return JSON.parse(text) as { readonly key: string }
}

const operator = await create('/keys', { scopes: ['admin'], isOperator: true })
const caller = await create('/keys', { scopes: ['enqueue'] }, operator.key)
await create('/retry-policies', { policyId: 'payments', maxAttempts: 8 }, operator.key)

/** From POST until its settle is written. Each task has another address, because the service keeps those that it has checked. */
async function deliver(number: number): Promise<void> {
  const ended = new Promise<void>(resolve => (onTaskEnded = resolve))
  const task = { targetUrl: `${sinkUrl}/orders/${number}`, method: 'POST', body: 'hello', policyId: 'payments' }
  await create('/retry-tasks', { ...task, idempotencyKey: `order-${number}` }, caller.key)
  await ended
}

for (let number = 0; number < WARM_UP; number++) await deliver(number)

const coverage = await startCoverage()
let crossedByEach: readonly string[] | undefined
for (let number = WARM_UP; number < WARM_UP + TASKS; number++) {
  await coverage.take()
  await deliver(number)
  const threads = await coverage.take()
  assert.ok(threads.filter(({ size }) => size > 0).length > 1, 'the main thread and the writer run for each task')
  const crossed = new Set(threads.flatMap(files => [...files]))
  crossedByEach = (crossedByEach ?? [...crossed]).filter(file => crossed.has(file))
}
writeSync(1, JSON.stringify(crossedByEach?.toSorted()))
coverage.stop()
await service.stop()
sink.close()
