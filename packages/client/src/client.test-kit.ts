import { scriptedServer, seededRandom, virtualClock } from '@secondwind/resilience/testing'
import type { ScriptedServer, ScriptEntry, VirtualClock } from '@secondwind/resilience/testing'
import { createClient, type Client } from './client.ts'
import type { ClientOptions } from './options.ts'
import type { ProblemCode, ProblemDetails } from './wire/problem.ts'
import type { RetryTask } from './wire/task.ts'

export const TASK_ID = '019a8b1c-5f00-7d3e-9a41-0c2f6e5b7a2a'
export const SERVICE = 'http://service.test'

export interface ScriptedClient {
  readonly client: Client
  readonly server: ScriptedServer
  readonly clock: VirtualClock
  /** What a promise comes to, in virtual time. */
  readonly end: <T>(promise: Promise<T>) => Promise<T>
}

/** A client of a service that does what its script says, in time that takes none. */
export function scriptedClient(script: readonly ScriptEntry[], options: Partial<ClientOptions> = {}): ScriptedClient {
  const clock = virtualClock()
  const server = scriptedServer(script, { clock })
  const ports = { clock, random: seededRandom(1) }
  const client = createClient({ url: SERVICE, fetch: server.fetch, ports, ...options })
  const end = async <T>(promise: Promise<T>): Promise<T> => {
    // Whoever waits for it hears of its failure.
    promise.catch(() => {})
    await clock.drain()
    return promise
  }
  return { client, server, clock, end }
}

/** A task as the service shows it. */
export function aTask(parts: Partial<RetryTask> = {}): RetryTask {
  return {
    taskId: TASK_ID,
    tenant: 'default',
    status: 'PENDING',
    attemptNumber: 0,
    targetUrl: 'https://api.example/charge',
    method: 'POST',
    headers: {},
    bodyBytes: 0,
    destination: 'https://api.example',
    policyId: 'default',
    policyVersion: 1,
    idempotencyKey: 'order-8812',
    createdAt: 1_767_225_600_000,
    expiresAt: 1_767_312_000_000,
    generation: 1,
    version: 1,
    ...parts,
  }
}

/** How the service says no. */
export function refusal(
  status: number,
  code: ProblemCode,
  parts: Partial<ProblemDetails> = {},
  headers: { readonly [name: string]: string } = {},
): ScriptEntry {
  const body: ProblemDetails = {
    type: `/errors#${code}`,
    title: 'a title',
    status,
    code,
    detail: 'What happened.',
    requestId: 'r-1',
    ...parts,
  }
  return { status, headers: { 'content-type': 'application/problem+json', ...headers }, body }
}
