import type { RunResult } from '../measure/result.ts'
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
  const { unit = '', note, within = 0.1 } = options
  const holds = Math.abs(ours - theirs) <= within * Math.abs(theirs) + 1e-9
  return { what, theirs: say(theirs, unit), ours: say(ours, unit), holds, ...(note !== undefined && { note }) }
}

interface ClaimOptions {
  readonly unit?: string
  readonly note?: string
  readonly within?: number
}

/** Calls per second at a dependency between two instants. */
export function callsPerSecond(run: RunResult, dependency: string, fromMs: number, untilMs: number): number {
  const { first, retries, hedges } = run.dependencies[dependency]!.perStep
  const [from, until] = [fromMs / run.stepMs, untilMs / run.stepMs].map(Math.round) as [number, number]
  let calls = 0
  for (let step = from; step < until; step++) calls += (first[step] ?? 0) + (retries[step] ?? 0) + (hedges[step] ?? 0)
  return (calls * 1_000) / (untilMs - fromMs)
}

export function say(number: number, unit = ''): string {
  return `${Number(number.toPrecision(3)).toLocaleString('en-GB').replaceAll(',', ' ')}${unit}`
}
