/** Several worlds side by side: the same columns for policies, jitters, and values of any parameter. */
import {
  arrivalsOf,
  estimate,
  latenciesOf,
  middleOf,
  readingOf,
  reportHtml,
  sayMs,
  sayNumber,
  sayRate,
  sayShare,
  sparkline,
  worstOf,
  type Measure,
  type NamedRun,
  type Picture,
  type Reading,
  type Scenario,
} from '@secondwind/lab'
import { drawOn } from '../output/picture-options.ts'
import type { Page } from '../terminal/page.ts'
import type { Table } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { runJobs } from '../threads/run-jobs.ts'

export interface Variant {
  readonly name: string
  readonly scenario: Scenario
}

export interface Tried extends NamedRun {
  readonly readings: readonly Reading[]
}

/** Every variant with every seed: the weather is the same for all. */
export async function tryAll(
  variants: readonly Variant[],
  seeds: readonly number[],
  terminal: Terminal,
): Promise<readonly Tried[]> {
  const jobs = variants.flatMap(({ scenario }) => seeds.map(seed => ({ kind: 'scenario', scenario, seed }) as const))
  const results = await runJobs(jobs, { label: 'runs', terminal })
  return variants.map(({ name }, index) => {
    const own = results.slice(index * seeds.length, (index + 1) * seeds.length)
    const result = middleOf(own, one => readingOf(one).peakPerSecond)
    return { name, result, readings: own.map(readingOf) }
  })
}

export function variantsTable(tried: readonly Tried[], what: string): Table {
  return {
    columns: [
      { name: what },
      { name: 'calls per operation', align: 'right' },
      { name: 'peak', align: 'right' },
      { name: 'over capacity', align: 'right', dropOrder: 2 },
      { name: 'served', align: 'right' },
      { name: 'p50', align: 'right', dropOrder: 3 },
      { name: 'p99', align: 'right', dropOrder: 4 },
      { name: 'last', align: 'right', dropOrder: 1 },
    ],
    rows: tried.map(({ name, readings }) => {
      const mean = (measure: Measure): number => estimate(readings, measure)?.mean ?? 0
      const overCapacity = estimate(readings, 'overCapacityMs')
      return [
        name,
        sayNumber(mean('amplification')),
        sayRate(mean('peakPerSecond')),
        overCapacity === undefined ? '' : sayMs(overCapacity.mean),
        sayShare(mean('servedShare')),
        sayMs(mean('p50Ms')),
        sayMs(mean('p99Ms')),
        sayMs(mean('lastEndMs')),
      ]
    }),
  }
}

/** Two are one picture; more are a line each, on one scale. */
export function showVariants(tried: readonly Tried[], scenario: Scenario, page: Page): string {
  if (tried.length <= 2) return drawOn(page, arrivalsOf(tried, scenario))
  const all = tried.map(callsPerStep)
  // As long as anything is called in any of them.
  const steps = 1 + Math.max(...all.map(counts => counts.findLastIndex(count => count > 0)))
  const calls = all.map(counts => counts.slice(0, steps))
  const longest = Math.max(...tried.map(({ name }) => name.length))
  const columns = page.columns - longest - 2
  const max = Math.max(...calls.flat())
  const mean = calls.flat().reduce((sum, count) => sum + count, 0) / calls.flat().length
  // A herd dwarfs what comes after it; a load that doubles should look like one.
  const scale = max > 5 * mean ? 'log' : 'linear'
  const lines = tried.map(({ name }, index) => {
    const line = sparkline(calls[index]!, { columns, ascii: page.isAscii, max, scale })
    return `${name.padEnd(longest)}  ${line}`
  })
  const { stepMs } = tried[0]!.result
  const title = `calls over ${sayMs(calls[0]!.length * stepMs)}, the highest ${sayRate((max * 1_000) / stepMs)}${scale === 'log' ? ', log' : ''}`
  return [page.colors.bold(title), ...lines].join('\n')
}

function callsPerStep({ result }: Tried): number[] {
  const [, { perStep }] = worstOf(result)
  const steps = Math.ceil(result.durationMs / result.stepMs)
  return Array.from({ length: steps }, (_, step) =>
    [perStep.first, perStep.retries, perStep.hedges].reduce((sum, counts) => sum + (counts[step] ?? 0), 0),
  )
}

export function pictureOf(tried: readonly Tried[], scenario: Scenario): Picture {
  return arrivalsOf(tried, scenario)
}

/** A difference of one in a thousand is chance. */
const SAME_SHARE = 0.001
/** Where clients go on calling, all end together: then it says nothing. */
const SOONER_SHARE = 0.9

/** What the best of them are, by what the dependency bears and by what the callers get. */
export function sayBest(tried: readonly Tried[]): string {
  const mean = ({ readings }: Tried, measure: Measure): number => estimate(readings, measure)?.mean ?? 0
  const least = (of: readonly Tried[], measure: Measure): Tried =>
    of.reduce((best, one) => (mean(one, measure) < mean(best, measure) ? one : best))
  const most = Math.max(...tried.map(one => mean(one, 'servedShare')))
  const calmest = least(tried, 'peakPerSecond')
  const fullest = least(
    tried.filter(one => mean(one, 'servedShare') >= most - SAME_SHARE),
    'amplification',
  )
  const calls = sayNumber(mean(fullest, 'amplification'))
  const served = `serves most, ${sayShare(mean(fullest, 'servedShare'))}, with ${calls} calls per operation`
  const peak = `has the lowest peak, ${sayRate(mean(calmest, 'peakPerSecond'))}`
  const soonest = least(tried, 'lastEndMs')
  const latest = Math.max(...tried.map(one => mean(one, 'lastEndMs')))
  const isSooner = mean(soonest, 'lastEndMs') < SOONER_SHARE * latest
  const done = isSooner ? `; ${soonest.name} is done first, after ${sayMs(mean(soonest, 'lastEndMs'))}` : ''
  return calmest === fullest
    ? `${calmest.name} ${peak}, and ${served}${done}.`
    : `${calmest.name} ${peak}; ${fullest.name} ${served}${done}.`
}

export function variantsReport(tried: readonly Tried[], scenario: Scenario, what: string, origin: string): string {
  const { columns, rows } = variantsTable(tried, what)
  return reportHtml({
    title: `${scenario.name}, by ${what}`,
    verdict: { kind: 'neither', say: sayBest(tried) },
    facts: [],
    sections: [
      {
        heading: 'Numbers',
        table: { columns: columns.map(({ name }) => name), rows: rows.map(cells => cells.map(String)) },
      },
      { heading: 'Arrivals', picture: arrivalsOf(tried, scenario) },
      { heading: 'Latency', picture: latenciesOf(tried) },
    ],
    origin,
  })
}
