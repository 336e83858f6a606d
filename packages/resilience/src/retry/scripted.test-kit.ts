import { virtualClock, type VirtualClock } from '../testing/index.ts'
import type { RetryEvent } from '../ports/telemetry.ts'
import type { RetryPolicyInput } from './policy.ts'

/** A failure that is known to pass by itself. */
export function reset(message = 'connection reset'): Error & { code: string } {
  return Object.assign(new Error(message), { code: 'ECONNRESET' })
}

/** 100, 200, 400 … ms, always the same. */
export const STEADY: RetryPolicyInput = { maxAttempts: 4, initialDelayMs: 100, jitterType: 'NONE' }

export interface Script {
  readonly clock: VirtualClock
  readonly ports: { readonly clock: VirtualClock; readonly random: () => number }
  readonly events: RetryEvent[]
  /** When each attempt began. */
  readonly calls: number[]
  /** Plays one step for each attempt, the last one for ever: throws errors, returns all else. */
  readonly work: () => Promise<unknown>
}

/** Work that follows a script, under a clock that stands still. */
export function scripted(...steps: readonly unknown[]): Script {
  const clock = virtualClock()
  const calls: number[] = []
  const work = async (): Promise<unknown> => {
    const step = steps[Math.min(calls.push(clock.monotonic()), steps.length) - 1]
    if (step instanceof Error) throw step
    return step
  }
  return { clock, ports: { clock, random: () => 0.5 }, events: [], calls, work }
}

/** What a promise came to, once the clock has run out of alarms. */
export async function outcomeOf<T>(clock: VirtualClock, promise: Promise<T>): Promise<{ value?: T; error?: unknown }> {
  const outcome = promise.then(
    value => ({ value }),
    (error: unknown) => ({ error }),
  )
  await clock.drain()
  return outcome
}
