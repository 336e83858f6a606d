import type { PipelinePolicyInput } from '@secondwind/resilience'
import type { Stall } from './stalls.test-kit.ts'

/** Callers that come at even intervals, and a server that is down for a while. */
export interface LiveWorld {
  readonly seconds: number
  readonly callsPerSecond: number
  readonly policy: PipelinePolicyInput
  readonly serviceMs: number
  readonly outage: { readonly fromMs: number; readonly untilMs: number }
}

/** What each of its processes is told: the world begins at this instant of the clock that they share. */
export interface Begin {
  readonly world: LiveWorld
  readonly beginsAt: number
  /** Where the server listens. */
  readonly url: string
}

export interface ServerReport {
  readonly arrivedAt: readonly number[]
  readonly stalls: readonly Stall[]
}

export interface CallersReport {
  /** Operations, by why they were given up, or `succeeded`. */
  readonly outcomes: { readonly [outcome: string]: number }
  readonly stalls: readonly Stall[]
}
