/** The target of all tasks: it answers by their scripts, and notes each request in the ledger. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Ledger, SinkRequest } from './ledger.ts'
import { bodyOf, scriptOf, stepOf } from './orders.ts'

export interface Sink {
  /** One address for each destination. */
  readonly urls: readonly string[]
  stop(): void
}

/** Lanes of their own, in several partitions. */
const DESTINATIONS = 4
/** Longer than a run: a connection that the sink closes by itself would look like a fault. */
const KEEP_ALIVE_MS = 3_600_000

export async function startSink(ledger: Ledger, seed: number): Promise<Sink> {
  const servers = Array.from({ length: DESTINATIONS }, () => serverFor(ledger, seed))
  await Promise.all(servers.map(server => once(server, 'listening')))
  return {
    urls: servers.map(server => `http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    stop: () => {
      for (const server of servers) server.close().closeAllConnections()
    },
  }
}

function serverFor(ledger: Ledger, seed: number): Server {
  const server = createServer((request, response) => {
    receive(ledger, seed, request, response).catch(() => response.destroy())
  })
  server.keepAliveTimeout = KEEP_ALIVE_MS
  return server.listen(0, '127.0.0.1')
}

async function receive(
  ledger: Ledger,
  seed: number,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const number = Number(incoming.url?.slice(1))
  const key = String(incoming.headers['idempotency-key'])
  const earlier = ledger.tasks.get(key)?.requests.length ?? 0
  const { answer, afterMs } = stepOf(scriptOf(seed, number), earlier + 1)
  const request: SinkRequest = { attempt: Number(incoming.headers['retry-attempt']), arrivedAt: Date.now(), answer }
  ledger.arrived(key, request)
  // A process that is killed while it sends leaves half a request: that breaks off here.
  const body = await text(incoming)
  if (body !== bodyOf(seed, number)) ledger.violated(`${key}: its body came changed`, Date.now())
  if (answer === 'silence') return
  await sleep(afterMs)
  if (response.destroyed) return
  switch (answer) {
    case 'success':
      response.writeHead(200).end('{"done":true}')
      break
    case 'unavailable':
      response.writeHead(503).end()
      break
    case 'refusal':
      response.writeHead(400).end('{"because":"script"}')
      break
    case 'reset':
      response.destroy()
      break
  }
  ledger.answered(key, request, Date.now())
}
