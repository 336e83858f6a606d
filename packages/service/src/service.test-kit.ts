import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@secondwind/resilience'
import { onTestFinished } from 'vitest'
import { DEFAULT_CONFIG, type ServiceConfig } from './config.ts'
import { startService, type Service } from './service.ts'

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'secondwind-service-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** A service on a free port, stopped when the test is over. */
export async function aService(
  config: Partial<ServiceConfig> = {},
  isDevelopment = true,
): Promise<Service & { readonly lines: string[]; readonly call: typeof call }> {
  const lines: string[] = []
  const service = await startService({
    config: { ...DEFAULT_CONFIG, port: 0, data: temporaryDirectory(), ...config },
    isDevelopment,
    log: line => void lines.push(line),
    logLevel: 'info',
  })
  let isStopped = false
  const stop = async (): Promise<void> => {
    if (isStopped) return
    isStopped = true
    await service.stop()
  }
  onTestFinished(stop)
  const call = (path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST'): Promise<Answered> =>
    callApi(service.url + path, body, method)
  return { ...service, stop, lines, call }
}

export interface Answered {
  readonly status: number
  readonly headers: Headers
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any
}

async function callApi(url: string, body?: unknown, method = body === undefined ? 'GET' : 'POST'): Promise<Answered> {
  const response = await fetch(url, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

/** Asks again until the answer is right; a test that waits in vain ends by its own time-out. */
export async function until<Value>(ask: () => Promise<Value>, isRight: (value: Value) => boolean): Promise<Value> {
  for (;;) {
    const value = await ask()
    if (isRight(value)) return value
    await systemClock.sleep(20)
  }
}

export interface Sink {
  readonly url: string
  /** Every request that arrived, in order. */
  readonly arrivals: Arrival[]
  close(): void
}

export interface Arrival {
  readonly path: string
  readonly key: string
  readonly attempt: number
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** A target that writes down what arrives. */
export async function aSink(
  answer: (arrival: Arrival, response: ServerResponse) => void = (_, response) => void response.end('{}'),
): Promise<Sink> {
  const arrivals: Arrival[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => (body += chunk))
    request.on('end', () => {
      const { headers } = request
      const arrival = {
        path: request.url ?? '',
        key: String(headers['idempotency-key']),
        attempt: Number(headers['retry-attempt']),
        headers,
        body,
      }
      arrivals.push(arrival)
      answer(arrival, response)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  onTestFinished(close)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, arrivals, close }
}
