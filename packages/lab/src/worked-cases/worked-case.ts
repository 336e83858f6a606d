import type { Measured, Unit } from '../measure/measured.ts'
import type { RunResult } from '../measure/result.ts'
import { grouped } from '../plots/format.ts'
import { runScenario } from '../run-scenario.ts'
import type { Scenario } from '../scenario/scenario.ts'

/**
 * An incident as people tell it, with what they claim about it. The lab prints both: where a claim does not come out, the
 * note says what it would take.
 */
export interface WorkedCase {
  readonly name: string
  /** What goes in, in words. */
  readonly inputs: string
  /** Each way to deal with it is a world of its own. With a scale below 1 load and capacity shrink together. */
  readonly variants: (scale: number) => { readonly [variant: string]: Scenario }
  readonly claims: (runs: Runs) => readonly Claim[]
}

export interface Runs {
  readonly of: (variant: string) => RunResult
  /** By which counts must be divided to be compared with the case as it is told. */
  readonly scale: number
}

export interface Claim {
  readonly what: string
  readonly theirs: string
  readonly ours: string
  /** Absent: nobody can say, for nothing was claimed, or nothing was simulated. */
  readonly holds?: boolean
  /** Why not, or what the claim forgot. */
  readonly note?: string
  /** Absent: it is about no number. */
  readonly measured?: Measured
}

export function runCase(workedCase: WorkedCase, { scale = 1, seed = 1 }: CaseOptions = {}): readonly Claim[] {
  const variants = Object.entries(workedCase.variants(scale))
  const results = new Map(variants.map(([variant, scenario]) => [variant, runScenario(scenario, { seed })]))
  return workedCase.claims({ of: variant => results.get(variant)!, scale })
}

export interface CaseOptions {
  /** A hundredth of the load takes a hundredth of the time, and chance plays a larger part. */
  readonly scale?: number
  readonly seed?: number
}

/** A claim about a number: it holds within a tenth, unless told otherwise. */
export function claim(what: string, theirs: number, ours: number, options: ClaimOptions = {}): Claim {
  const { unit = 'count', note, within = 0.1 } = options
  const allowed = within * Math.abs(theirs)
  return {
    what,
    theirs: say(theirs, unit),
    ours: say(ours, unit),
    holds: Math.abs(ours - theirs) <= allowed + 1e-9,
    ...(note !== undefined && { note }),
    measured: { unit, theirs, ours, least: theirs - allowed, most: theirs + allowed },
  }
}

interface ClaimOptions {
  readonly unit?: Unit
  readonly note?: string
  readonly within?: number
}

/** A time of which nothing was told, and which may never have come. */
export function measuredMs(ours: number | undefined): Measured {
  return { unit: 'ms', ...(ours !== undefined && { ours }) }
}

/** Calls per second at a dependency between two instants. */
export function callsPerSecond(run: RunResult, dependency: string, fromMs: number, untilMs: number): number {
  const { first, retries, hedges } = run.dependencies[dependency]!.perStep
  const [from, until] = [fromMs / run.stepMs, untilMs / run.stepMs].map(Math.round) as [number, number]
  let calls = 0
  for (let step = from; step < until; step++) calls += (first[step] ?? 0) + (retries[step] ?? 0) + (hedges[step] ?? 0)
  return (calls * 1_000) / (untilMs - fromMs)
}

export function say(number: number, unit: Unit = 'count'): string {
  const { per, sign } = SAID[unit]
  return `${grouped(Number((number / per).toPrecision(3)))}${sign}`
}

/** As people tell them: in seconds, and of a hundred. */
const SAID: { readonly [unit in Unit]: { readonly per: number; readonly sign: string } } = {
  count: { per: 1, sign: '' },
  times: { per: 1, sign: ' ×' },
  share: { per: 0.01, sign: ' %' },
  ms: { per: 1_000, sign: ' s' },
  'per-second': { per: 1, sign: '/s' },
}
