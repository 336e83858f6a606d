/** Worlds with every seed, the weather the same for all, and all of them read at one dependency. */
import {
  estimatesOf,
  middleOf,
  worstOf,
  type Estimates,
  type Reading,
  type RunResult,
  type Scenario,
} from '@secondwind/lab'
import type { Terminal } from '../terminal/terminal.ts'
import { runJobs } from '../threads/run-jobs.ts'

export interface Trials {
  /** The one that suffers most in any of those that are judged. */
  readonly dependency: string
  readonly worlds: readonly Measured[]
}

export interface Measured {
  readonly scenario: Scenario
  /** One for each seed. */
  readonly readings: readonly Reading[]
  /** That of the run in the middle, by its peak: the one that is drawn when there are many. */
  readonly middleSeed: number
  /** The run itself, where there is no other. */
  readonly only?: RunResult
}

interface MeasureOptions {
  readonly seeds: readonly number[]
  /** What the others are only compared with; absent: nothing, all of them are judged. */
  readonly baselines?: readonly Scenario[]
}

/** Of many runs only the readings are kept: their series would fill the memory. Baselines come last. */
export async function measure(
  judged: readonly Scenario[],
  { seeds, baselines = [] }: MeasureOptions,
  terminal: Terminal,
): Promise<Trials> {
  const scenarios = [...judged, ...baselines]
  const isWhole = seeds.length === 1
  const jobs = scenarios.flatMap(scenario =>
    seeds.map(seed => ({ kind: 'scenario', scenario, seed, isWhole }) as const),
  )
  const runs = await runJobs(jobs, { label: 'runs', terminal })
  const dependency = worstOf(runs.slice(0, judged.length * seeds.length).map(({ readings }) => readings))
  const worlds = scenarios.map((scenario, index): Measured => {
    const own = runs.slice(index * seeds.length, (index + 1) * seeds.length)
    const seen = own.map(({ readings }, place) => ({ seed: seeds[place]!, reading: readings[dependency]! }))
    const { seed: middleSeed } = middleOf(seen, ({ reading }) => reading.peakPerSecond)
    const { result: only } = own[0]!
    return { scenario, readings: seen.map(({ reading }) => reading), middleSeed, ...(only && { only }) }
  })
  return { dependency, worlds }
}

/** The run in the middle of each, with all its series: it is run once more, which gives the same bytes. */
export async function middlesOf(worlds: readonly Measured[], terminal: Terminal): Promise<readonly RunResult[]> {
  const jobs = worlds
    .filter(({ only }) => only === undefined)
    .map(({ scenario, middleSeed: seed }) => ({ kind: 'scenario', scenario, seed, isWhole: true }) as const)
  const again = (await runJobs(jobs, { label: 'pictures', terminal })).values()
  return worlds.map(({ only }) => only ?? again.next().value!.result!)
}

interface Numbers {
  /** One for each seed. */
  readonly readings: readonly Reading[]
  /** Over all of them; absent: one run has no range. */
  readonly estimates?: Estimates
}

/** For the document of a world, in every command the same. */
export function numbersOf(readings: readonly Reading[]): Numbers {
  return { readings, ...(readings.length > 1 && { estimates: estimatesOf(readings) }) }
}

/** Which of many runs a picture shows; undefined: there is no other. */
export function sayDrawn(runs: number, seed?: number): string | undefined {
  if (runs === 1) return undefined
  return `One of ${runs} runs is drawn, that in the middle by its peak${seed === undefined ? '' : `: seed ${seed}`}`
}
