import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@secondwind/resilience'
import { DEFAULT_CONFIG, startService, type Service } from '@secondwind/service'
import { onTestFinished } from 'vitest'

/** Lanes that a service finds when it begins may have had a past: for ten seconds it retries nothing there. */
const FINDS_ITS_FEET_MS = 500

/** A real service with a store on disk, on a free port, for the length of a test. */
export async function aService(): Promise<Service> {
  const data = mkdtempSync(join(tmpdir(), 'secondwind-recipe-'))
  const service = await startService({
    config: { ...DEFAULT_CONFIG, port: 0, data },
    isDevelopment: true,
    log: () => {},
    logLevel: 'error',
  })
  onTestFinished(async () => {
    await service.stop()
    rmSync(data, { recursive: true, force: true })
  })
  await systemClock.sleep(FINDS_ITS_FEET_MS)
  return service
}

export interface Target {
  readonly url: string
  /** Every request that arrived, in order. */
  readonly arrivals: readonly Arrival[]
  /** Down: it answers 503. */
  isUp: boolean
}

export interface Arrival {
  readonly key: string | undefined
  readonly attempt: number
  readonly body: string
}

/** A provider that is down until it is told otherwise, and writes down who came. */
export async function aTarget(): Promise<Target> {
  const arrivals: Arrival[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
    request.on('end', () => {
      const { 'idempotency-key': key, 'retry-attempt': attempt } = request.headers
      arrivals.push({ key: key as string | undefined, attempt: Number(attempt), body })
      response.writeHead(target.isUp ? 200 : 503).end('{"charged":true}')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const target: Target = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, arrivals, isUp: false }
  return target
}
