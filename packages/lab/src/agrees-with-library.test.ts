/**
 * The same world twice: once simulated, once with the library itself on a virtual clock. Every call must arrive at the
 * same millisecond. Chance is left out, for it would be drawn in another order.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { pipeline, transient, type PipelinePolicyInput } from '@secondwind/resilience'
import { virtualClock } from '@secondwind/resilience/testing'
import { runScenario } from './run-scenario.ts'

const SERVICE_MS = 50
const OUTAGE = { fromMs: 1_500, untilMs: 4_500 }
const DURATION_MS = 9_000
/** Every 37 ms, so that nothing falls together. */
const ARRIVALS = Array.from({ length: 240 }, (_, place) => 3 + 37 * place)

async function arrivalsInLibrary(policy: PipelinePolicyInput, slowEvery: number): Promise<number[]> {
  const clock = virtualClock()
  const guarded = pipeline({ ...policy, idempotent: true, ports: { clock, random: () => 0.5 } })
  const arrivals: number[] = []
  const call = async ({ signal }: { readonly signal: AbortSignal }): Promise<void> => {
    const at = clock.monotonic()
    arrivals.push(at)
    const isDown = at >= OUTAGE.fromMs && at < OUTAGE.untilMs
    await clock.sleep(isDown && slowEvery > 0 ? SERVICE_MS + slowEvery : SERVICE_MS, signal)
    if (isDown && slowEvery === 0) throw transient(new Error('down'))
  }
  const operations = ARRIVALS.map(async at => {
    await clock.sleep(at)
    // What it comes to shows in when calls arrive.
    await guarded.run(call).catch(() => {})
  })
  await clock.drain({ mostRings: 1_000_000 })
  await Promise.all(operations)
  return arrivals
}

function arrivalsInLab(policy: PipelinePolicyInput, slowMs: number): number[] {
  const { dependencies } = runScenario({
    name: 'the same world',
    durationMs: DURATION_MS,
    stepMs: 1,
    clients: [{ name: 'clients', calls: 'server', pipeline: 'policy', arrivals: { kind: 'trace', atMs: ARRIVALS } }],
    pipelines: { policy },
    dependencies: {
      server: {
        serviceMs: SERVICE_MS,
        troubles: [{ ...OUTAGE, ...(slowMs > 0 ? { addedMs: slowMs } : { errorRate: 1 }) }],
      },
    },
  })
  const { first, retries, hedges } = dependencies['server']!.perStep
  return first.flatMap((count, at) => Array.from({ length: count + retries[at]! + hedges[at]! }, () => at))
}

const retry = { maxAttempts: 4, initialDelayMs: 100, jitterType: 'NONE', attemptTimeoutMs: 400 } as const

const POLICIES: { readonly [title: string]: readonly [policy: PipelinePolicyInput, slowMs?: number] } = {
  'retries without a budget': [{ name: 'p', retry, budget: false }],
  'the default budget': [{ name: 'p', retry: { ...retry, maxAttempts: 10 } }],
  'a small ratio budget': [{ name: 'p', retry, budget: { kind: 'ratio', ratio: 0.2, windowMs: 2_000, minRetries: 3 } }],
  'a token budget': [{ name: 'p', retry, budget: { kind: 'tokens', maxTokens: 20, tokenRatio: 0.5 } }],
  'a quota': [
    { name: 'p', retry, budget: { kind: 'quota', capacity: 100, retryCost: 5, throttledCost: 10, successGain: 1 } },
  ],
  'a rate budget': [{ name: 'p', retry, budget: { kind: 'rate', perSecond: 3, burst: 5 } }],
  'a concurrent budget': [{ name: 'p', retry, budget: { kind: 'concurrent', ratio: 0.3, minRetries: 1 } }],
  'a breaker': [
    { name: 'p', retry, budget: false, breaker: { windowMs: 2_000, minCalls: 10, openMs: 1_000, probes: 2 } },
  ],
  'a breaker that counts attempts': [
    { name: 'p', retry, budget: false, breaker: { window: 'count', windowCalls: 20, openMs: 700, record: 'attempt' } },
  ],
  'a breaker of failures in a row': [
    {
      name: 'p',
      retry,
      budget: false,
      breaker: { window: 'consecutive', consecutiveFailures: 5, openMs: 500, openMultiplier: 2 },
    },
  ],
  'a bulkhead with a queue': [
    { name: 'p', retry, budget: false, bulkhead: { limit: 2, maxQueued: 5, maxWaitMs: 120 } },
    90,
  ],
  'a rate limit': [
    { name: 'p', retry, budget: false, rateLimit: { perSecond: 30, burst: 3, maxQueued: 4, maxWaitMs: 200 } },
  ],
  'a learned limit': [
    { name: 'p', retry, budget: false, limiter: { kind: 'aimd', initialLimit: 2, slowCallMs: 60 } },
    40,
  ],
  'time-outs': [{ name: 'p', retry, budget: false }, 600],
  'hedges after a fixed time': [{ name: 'p', retry, budget: false, hedge: { delayMs: 70, maxExtraLoad: 0.5 } }, 100],
  'two hedges, and little to pay for them': [
    { name: 'p', retry, hedge: { delayMs: 60, maxExtraCalls: 2, maxExtraLoad: 0.1, windowMs: 1_000 } },
    200,
  ],
  'hedges that have learned when': [
    { name: 'p', retry, hedge: { delayPercentile: 90, minSamples: 10, maxExtraLoad: 0.3 } },
    100,
  ],
  'all of them together': [
    {
      name: 'p',
      retry,
      breaker: { windowMs: 2_000, minCalls: 10, openMs: 1_000, probes: 2 },
      bulkhead: { limit: 6 },
      limiter: { kind: 'aimd', initialLimit: 8 },
      rateLimit: { perSecond: 60 },
      hedge: { delayMs: 70, maxExtraLoad: 0.5 },
    },
  ],
}

describe('simulated and with the library itself, calls arrive at the same millisecond', () => {
  for (const [title, [policy, slowMs = 0]] of Object.entries(POLICIES))
    it(`with ${title}`, async () => {
      const theirs = await arrivalsInLibrary(policy, slowMs)
      assert.deepEqual(
        arrivalsInLab(policy, slowMs),
        theirs.map(at => Math.floor(at)).toSorted((one, other) => one - other),
      )
      assert.notEqual(theirs.length, 0)
    })
})
