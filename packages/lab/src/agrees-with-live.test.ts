/**
 * The library over real sockets and in real time, beside its simulation: the one test here that takes as long as the
 * world that it describes, twenty seconds.
 */
import assert from 'node:assert/strict'
import { Agent, createServer, get, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, it } from 'vitest'
import { pipeline, transient, type PipelinePolicyInput } from '@secondwind/resilience'
import { runScenario } from './run-scenario.ts'

const PER_SECOND = 100
const SECONDS = 20
const OUTAGE = { fromMs: 7_000, untilMs: 14_000 }
const SERVICE_MS = 20

const POLICY: PipelinePolicyInput = {
  name: 'live',
  retry: { maxAttempts: 4, initialDelayMs: 200, maxDelayMs: 2_000, attemptTimeoutMs: 2_000 },
  budget: { kind: 'ratio', ratio: 1.5, windowMs: 5_000, minRetries: 10 },
}

interface Seen {
  /** Calls at the server, second by second. */
  readonly perSecond: readonly number[]
  readonly successShare: number
}

function simulated(seed: number): Seen {
  const { clients, dependencies } = runScenario(
    {
      name: 'live',
      durationMs: SECONDS * 1_000,
      clients: [
        { name: 'clients', calls: 'server', pipeline: 'live', arrivals: { kind: 'constant', perSecond: PER_SECOND } },
      ],
      pipelines: { live: POLICY },
      dependencies: { server: { serviceMs: SERVICE_MS, troubles: [{ ...OUTAGE, errorRate: 1, errorMs: 1 }] } },
    },
    { seed },
  )
  const { first, retries } = dependencies['server']!.perStep
  return {
    perSecond: first.map((count, second) => count + retries[second]!),
    successShare: clients['clients']!.successShare,
  }
}

async function live(): Promise<Seen> {
  const perSecond: number[] = Array.from({ length: SECONDS + 60 }, () => 0)
  const startedAt = performance.now()
  const server = createServer((_, response) => {
    const at = performance.now() - startedAt
    perSecond[Math.floor(at / 1_000)]!++
    const isDown = at >= OUTAGE.fromMs && at < OUTAGE.untilMs
    if (isDown) response.writeHead(503).end()
    else setTimeout(() => response.end(), SERVICE_MS)
  })
  const url = await listen(server)
  const agent = new Agent({ keepAlive: true })
  try {
    const guarded = pipeline(POLICY)
    const outcomes: Promise<boolean>[] = []
    for (let count = 1; count < PER_SECOND * SECONDS; count++) {
      const waitMs = startedAt + (count * 1_000) / PER_SECOND - performance.now()
      if (waitMs > 0) await sleep(waitMs)
      outcomes.push(
        guarded
          .run(({ signal }) => call(url, agent, signal))
          .then(
            () => true,
            () => false,
          ),
      )
    }
    const ended = await Promise.all(outcomes)
    return { perSecond, successShare: ended.filter(Boolean).length / ended.length }
  } finally {
    agent.destroy()
    server.close()
    server.closeAllConnections()
  }
}

function listen(server: Server): Promise<string> {
  return new Promise(resolve => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`))
  })
}

function call(url: string, agent: Agent, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent, signal }, response => {
      response.resume()
      response.on('end', () => (response.statusCode === 200 ? resolve() : reject(transient(new Error('503')))))
    })
    request.on('error', reject)
  })
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

describe('simulated and live agree (20 s of real time)', () => {
  it(
    'on calls per second to within a tenth, and on outcomes to within two points',
    { timeout: 120_000, retry: 1 },
    async () => {
      const runs = [1, 2, 3, 4, 5].map(simulated)
      const theirs = await live()
      const seconds = Array.from({ length: SECONDS - 1 }, (_, second) => second)
      const different = seconds.filter(second => {
        const ours = mean(runs.map(({ perSecond }) => perSecond[second] ?? 0))
        return Math.abs(ours - theirs.perSecond[second]!) > 0.1 * ours
      })
      const all = (seen: Seen): number => seen.perSecond.reduce((sum, count) => sum + count, 0)
      // A single second may hold a hiccup of the machine, which the next one makes up for; the world as a whole may not.
      assert.ok(
        different.length <= 2,
        `second ${different.join(', ')} of ${theirs.perSecond.slice(0, SECONDS).join(' ')}; simulated ${runs[0]!.perSecond.join(' ')}`,
      )
      assert.ok(Math.abs(all(theirs) / mean(runs.map(all)) - 1) < 0.05)
      assert.ok(Math.abs(theirs.successShare - mean(runs.map(({ successShare }) => successShare))) < 0.02)
    },
  )
})
