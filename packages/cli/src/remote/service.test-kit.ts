import { createClient, type Client, type RetryTask } from '@secondwind/client'
import { DEFAULT_CONFIG, startService } from '@secondwind/service'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { atTerminal, inPipe } from '../command-line.test-kit.ts'

type Screening = Parameters<typeof atTerminal>[1]

export interface RunningService {
  readonly url: string
  readonly client: Client
  /** The command line on a terminal, for this service. */
  readonly atTerminal: (words: readonly string[], screening?: Screening) => ReturnType<typeof atTerminal>
  /** The same in a pipe. */
  readonly inPipe: (words: readonly string[], screening?: Screening) => ReturnType<typeof inPipe>
  /** A task for a practice endpoint of this service, as `503x2`. */
  readonly aTask: (script: string, parts?: object) => Promise<RetryTask>
}

/** A service in this process, with practice endpoints and a store in memory, on a free port. */
export async function aService(settings: Partial<typeof DEFAULT_CONFIG> = {}): Promise<RunningService> {
  const service = await startService({
    config: { ...DEFAULT_CONFIG, port: 0, store: 'memory', ...settings },
    isDevelopment: true,
    log: () => undefined,
    logLevel: 'error',
  })
  onTestFinished(() => service.stop())
  const { url } = service
  const client = createClient({ url })
  const atService = (words: readonly string[]): readonly string[] => [...words, '--url', url]
  return {
    url,
    client,
    atTerminal: (words, screening) => atTerminal(atService(words), screening),
    inPipe: (words, screening) => inPipe(atService(words), screening),
    aTask: (script, parts = {}) => client.tasks.enqueue({ targetUrl: `${url}/_flaky/${script}`, ...parts }),
  }
}

/** A tenant of the service, with a key of its own. From then on all others need a key, too. */
export async function aTenantOf(url: string): Promise<{ client: Client; flags: readonly string[] }> {
  const admin = await createClient({ url }).keys.create({ scopes: ['admin'], isOperator: true })
  const scopes = ['enqueue', 'read', 'operate'] as const
  const { key } = await createClient({ url, key: admin.key }).keys.create({ scopes })
  const folder = mkdtempSync(join(tmpdir(), 'secondwind-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'tenant.key')
  writeFileSync(file, key, { mode: 0o600 })
  return { client: createClient({ url, key }), flags: ['--key-file', file] }
}

/** The way to a service on which `before` has its turn before each request goes on. */
export async function aWayTo(url: string, before: (request: IncomingMessage) => unknown): Promise<string> {
  return anAnswer((request, response) => {
    const forward = async (): Promise<void> => {
      const { method = 'GET', url: path = '/', headers } = request
      const body = Buffer.concat(await request.toArray())
      await before(request)
      const answer = await fetch(new URL(path, url), {
        method,
        headers: Object.entries(headers).flatMap(([name, value]) =>
          KEPT.includes(name) ? [[name, String(value)]] : [],
        ),
        ...(body.length > 0 && { body }),
      })
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
      response.end(await answer.text())
    }
    forward().catch(error => response.destroy(error as Error))
  })
}

const KEPT: readonly string[] = ['content-type', 'if-match', 'authorization', 'secondwind-tenant']

/** Something that listens, and answers like this. */
export async function anAnswer(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
