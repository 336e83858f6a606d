import { setTimeout as sleep } from 'node:timers/promises'
import type { Contender } from './contenders.ts'
import { SCENARIO, TOTAL_CALLS } from './scenario.ts'
import type { StoryClock } from './story-clock.ts'

export interface CallResult {
  readonly succeeded: boolean
  readonly tookMs: number
}

/** Half the distance of two calls: each begins when it should. */
const TICK_MS = 500 / SCENARIO.callsPerSecond

/** Makes all calls of the scenario, each at its own instant whether or not those before it have ended. */
export async function makeCalls({ call }: Contender, url: string, clock: StoryClock): Promise<CallResult[]> {
  const results: Promise<CallResult>[] = []
  while (results.length < TOTAL_CALLS) {
    const due = Math.ceil((clock.now() * SCENARIO.callsPerSecond) / 1_000)
    while (results.length < Math.min(due, TOTAL_CALLS)) results.push(measure(call(url)))
    await sleep(TICK_MS)
  }
  return Promise.all(results)
}

async function measure(call: Promise<void>): Promise<CallResult> {
  const startedAt = performance.now()
  const succeeded = await call.then(
    () => true,
    () => false,
  )
  return { succeeded, tookMs: performance.now() - startedAt }
}
