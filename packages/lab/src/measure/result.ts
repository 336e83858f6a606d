import type { StepCounts } from './station-meter.ts'

/** What came of a scenario with one seed. Plain data; series have one number for each step. */
export interface RunResult {
  readonly scenario: string
  readonly seed: number
  readonly durationMs: number
  readonly stepMs: number
  /** The instant of the last thing that happened. */
  readonly endedAtMs: number
  /** Events that were set, those that were withdrawn before they came included: what a run costs. */
  readonly events: number
  /** By the names of the groups. */
  readonly clients: { readonly [name: string]: CallerMeasures }
  /** What dependencies call themselves, by `from → to`. */
  readonly tiers: { readonly [name: string]: CallerMeasures }
  readonly dependencies: { readonly [name: string]: DependencyMeasures }
  readonly recovery: Recovery
}

/** Operations, as their caller sees them. */
export interface CallerMeasures {
  readonly operations: number
  readonly succeeded: number
  /** Still under way when the drain was over: nobody has been served by them. */
  readonly unended: number
  /** Of all that have ended, and of those that never did. */
  readonly successShare: number
  /** Why the others were given up. */
  readonly reasons: { readonly [reason: string]: number }
  readonly attemptsPerOperation: number
  /** Of operations that succeeded, waits included. */
  readonly latency: LatencyMeasures
  readonly lastEndAtMs: number
  readonly perStep: {
    readonly begun: readonly number[]
    /** Goodput. */
    readonly good: readonly number[]
    readonly bad: readonly number[]
    /** Retries that were decided upon; each is sent after its wait. */
    readonly planned: readonly number[]
  }
}

export interface LatencyMeasures {
  readonly count: number
  readonly meanMs: number
  readonly varianceMs2: number
  readonly p50Ms: number
  readonly p90Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  readonly longestMs: number
  readonly distribution: readonly { readonly ms: number; readonly share: number }[]
}

/** Calls, as the dependency sees them. */
export interface DependencyMeasures {
  readonly calls: number
  readonly first: number
  readonly retries: number
  readonly hedges: number
  readonly refused: number
  /** Calls, as a multiple of what they would be if nobody called twice. */
  readonly amplification: number
  /** The most calls in one step, per second, and when. */
  readonly peakPerSecond: number
  readonly peakAtMs: number
  /** What its servers can do when nothing is wrong; absent when there are as many as come. */
  readonly capacityPerSecond?: number
  /** Steps with more calls than that, together. */
  readonly overCapacityMs: number
  readonly longestQueue: number
  /** The share of its servers' time that was worked; absent when there are as many as come. */
  readonly utilisation?: number
  readonly workMs: number
  /** The share of work that nobody waited for any more. */
  readonly wastedShare: number
  readonly perStep: StepCounts
}

/** How the world got over the last of its troubles. */
export interface Recovery {
  /** When the last trouble, or spike of load, was over; absent: there was none. */
  readonly troubleEndsAtMs?: number
  /** From then until goodput was back to nineteen in twenty of what is asked, for good; absent: it never was. */
  readonly recoveredAfterMs?: number
  /** The trouble has gone and the collapse stays, although the load alone could be borne. */
  readonly isMetastable: boolean
}
