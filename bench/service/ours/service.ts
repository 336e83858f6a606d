/** The whole service, as `secondwind serve` starts it: store, dispatcher, target, API, metrics. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { DEFAULT_CONFIG } from '../../../packages/service/dist/config.js'
import { type Service, startService } from '../../../packages/service/dist/service.js'
import type { DispatchEvents, OperatorEvents } from '../../../packages/service/dist/telemetry/events.js'
import { quantile } from '../../statistics.ts'
import { inChunks } from '../contenders/asking.ts'
import type { Contender } from '../contenders/contender.ts'
import { CONCURRENCY, deliveryOf, type Order } from '../delivery.ts'
import { addAll, openStore } from './store.ts'
import { newTask, POLICY } from './tasks.ts'

/** One lane alone is given four fifths of the slots: with so many, a hundred are under way. */
const SLOTS = Math.ceil(CONCURRENCY / 0.8)

const CHUNK = 1_000

export interface OpenedService extends Contender {
  /** Once it is started. */
  url(): string
}

/** Tasks that come before the start go straight into the store; later ones through the API. */
export async function openService(folder: string): Promise<OpenedService> {
  const store = await openStore(folder)
  const tally = createTally()
  let service: Service | undefined
  let isStoreOpen = true
  const closeStore = async (): Promise<void> => {
    if (isStoreOpen) await store.close()
    isStoreOpen = false
  }
  const taskOf = ({ url, dueAt }: Order, now: number) =>
    newTask({ url, now, key: randomUUID(), ...(dueAt !== undefined && { dueAt }) })
  return {
    add: order => addAll(store, [taskOf(order, Date.now())]),
    addMany: async orders => {
      tally.expect(orders.length)
      for (const chunk of inChunks(orders, CHUNK)) {
        const now = Date.now()
        if (service === undefined)
          await addAll(
            store,
            chunk.map(order => taskOf(order, now)),
          )
        else await submit(service, chunk)
      }
    },
    start: async () => {
      await closeStore()
      service = await serve(folder, tally.events)
    },
    url: () => service!.url,
    whenDone: () => tally.whenAllEnded(),
    forgetOverhead: () => tally.forgetOverhead(),
    overheadP99Ms: () => tally.overheadP99Ms(),
    close: async () => {
      await service?.stop()
      await closeStore()
    },
  }
}

export function serve(folder: string, events?: DispatchEvents & OperatorEvents): Promise<Service> {
  return startService({
    config: { ...DEFAULT_CONFIG, port: 0, data: folder, concurrency: SLOTS, allowTarget: ['127.0.0.0/8'] },
    isDevelopment: false,
    // What an operator sees is made, and written nowhere: a terminal is not what is measured.
    logLevel: 'info',
    log: () => {},
    ...(events && { events }),
  })
}

async function submit({ url }: Service, orders: readonly Order[]): Promise<void> {
  const tasks = orders.map(order => {
    const { url: targetUrl, ...request } = deliveryOf(order)
    const { dueAt: notBefore } = order
    return {
      targetUrl,
      ...request,
      policyId: POLICY.policyId,
      idempotencyKey: randomUUID(),
      ...(notBefore !== undefined && { notBefore }),
    }
  })
  const response = await fetch(`${url}/retry-tasks/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(tasks),
  })
  const text = await response.text()
  assert.equal(response.status, 200, text)
  const { created } = JSON.parse(text) as { readonly created: number }
  assert.equal(created, orders.length, text)
}

interface Tally {
  readonly events: DispatchEvents & OperatorEvents
  expect(count: number): void
  whenAllEnded(): Promise<void>
  forgetOverhead(): void
  overheadP99Ms(): number
}

/** Counts what the service says of itself; it says so once it is written. */
function createTally(): Tally {
  let left = 0
  let overheadsMs: number[] = []
  let isOver: (() => void) | undefined
  return {
    events: {
      attemptEnded: ({ overheadMs }) => void overheadsMs.push(overheadMs),
      taskChanged: () => {},
      taskEnded: () => {
        left--
        if (left === 0) isOver?.()
      },
      held: () => {},
      breakerChanged: () => {},
      orphan: () => {},
      taskOperated: () => {},
      warning: (code, text) => void process.stderr.write(`warning: ${code}: ${text}\n`),
    },
    expect: count => void (left += count),
    whenAllEnded: () =>
      new Promise(resolve => {
        isOver = resolve
        if (left === 0) resolve()
      }),
    forgetOverhead: () => void (overheadsMs = []),
    overheadP99Ms: () =>
      quantile(
        overheadsMs.toSorted((a, b) => a - b),
        0.99,
      ),
  }
}
