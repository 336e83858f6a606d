/** The sink itself: answers every request with 200 as fast as node:http can, and remembers when it came. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { quantile } from '../statistics.ts'
import { DUE_HEADER } from './delivery.ts'
import { preciseNow } from './world.ts'

export type SinkOrder =
  | { readonly kind: 'listen'; readonly portCount: number }
  | { readonly kind: 'watch'; readonly counts: readonly number[] }

export type SinkAnswer =
  | { readonly kind: 'listening'; readonly urls: readonly string[] }
  | { readonly kind: 'watching' }
  | {
      readonly kind: 'reached'
      readonly count: number
      readonly at: number
      readonly latenessMs: { readonly p50: number; readonly p99: number }
    }

let count = 0
let watched: ReadonlySet<number> = new Set()
let latenessesMs: number[] = []

process.on('message', (order: SinkOrder) => {
  switch (order.kind) {
    case 'listen':
      return void listen(order.portCount).then(urls => tell({ kind: 'listening', urls }))
    case 'watch':
      count = 0
      latenessesMs = []
      watched = new Set(order.counts)
      return tell({ kind: 'watching' })
  }
})

// Its parent is gone, or has no more use for it.
process.on('disconnect', () => process.exit())

async function listen(portCount: number): Promise<string[]> {
  return Promise.all(
    Array.from({ length: portCount }, async () => {
      const server = createServer(receive).listen(0, '127.0.0.1')
      // Longer than any pause of a lap: a connection closed under a request would look like a fault.
      server.keepAliveTimeout = 600_000
      await once(server, 'listening')
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    }),
  )
}

function receive(request: IncomingMessage, response: ServerResponse): void {
  const dueAt = request.headers[DUE_HEADER]
  if (dueAt !== undefined) latenessesMs.push(preciseNow() - Number(dueAt))
  count++
  if (watched.has(count)) tellReached()
  request.resume()
  request.on('end', () => response.end('ok'))
}

function tellReached(): void {
  const sorted = latenessesMs.toSorted((a, b) => a - b)
  const latenessMs = { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) }
  tell({ kind: 'reached', count, at: preciseNow(), latenessMs })
}

function tell(answer: SinkAnswer): void {
  process.send!(answer)
}
