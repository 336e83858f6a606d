/** Several worlds side by side: the same answer for policies, jitters, and values of any parameter. */
import {
  arrivalsOf,
  estimate,
  largest,
  latenciesOf,
  reportHtml,
  sayMs,
  sayNumber,
  sayRate,
  sayShare,
  sparkline,
  type Measure,
  type NamedRun,
  type Picture,
  type Reading,
  type Scenario,
} from '@secondwind/lab'
import type { Answer, Call, Option } from '../command.ts'
import { readOptions } from '../input/read-options.ts'
import { readsInput, typed, typedWith } from '../input/typed.ts'
import { CSV_OPTION } from '../output/csv-option.ts'
import { fileAt, freePath } from '../output/output-file.ts'
import { drawOn, FILE_READERS, pictureFile, PICTURE_OPTIONS, REPORT_OPTION } from '../output/picture-options.ts'
import { wrap, type Page } from '../terminal/page.ts'
import { showTable, wordsOf, type Column, type Table } from '../terminal/table.ts'
import { estimateCells, estimateColumns } from './estimate-cells.ts'
import { measure, middlesOf, numbersOf, sayDrawn } from './trials.ts'
import { OTHER_WORLDS, WORLD_OPTIONS } from './world-options.ts'

/** What every command takes that shows several worlds. */
export const VARIANT_OPTIONS: readonly Option[] = [...WORLD_OPTIONS, ...PICTURE_OPTIONS, REPORT_OPTION, CSV_OPTION]

export interface Variant {
  readonly name: string
  readonly scenario: Scenario
}

interface Tried extends NamedRun {
  readonly readings: readonly Reading[]
}

interface Comparison {
  /** What they differ in. */
  readonly what: string
  /** What a sentence calls one of them. */
  readonly sayName: (name: string) => string
  /** At which all of them are compared. */
  readonly dependency: string
  readonly scenario: Scenario
  readonly tried: readonly Tried[]
}

type Question = Pick<Comparison, 'what' | 'sayName'> & { readonly seeds: readonly number[] }

/** Every variant with every seed, as a picture, a table and a sentence. */
export async function compareVariants(
  variants: readonly Variant[],
  { what, sayName, seeds }: Question,
  { words, options, terminal }: Call,
): Promise<Answer> {
  const { svg, html } = readOptions(options, FILE_READERS)
  const scenarios = variants.map(({ scenario }) => scenario)
  const { dependency, worlds } = await measure(scenarios, { seeds }, terminal)
  const middles = await middlesOf(worlds, terminal)
  const tried = variants.map(({ name }, index) => ({
    name,
    result: middles[index]!,
    readings: worlds[index]!.readings,
  }))
  const comparison: Comparison = { what, sayName, dependency, scenario: scenarios[0]!, tried }
  const picture = arrivalsOf(tried, comparison.scenario, dependency)
  const table = tableOf(comparison)
  const verdict = sayBest(comparison)
  const next = [nextOf(words, { seeds, html })]
  return {
    data: { seeds, dependency, what, variants: tried.map(({ name, readings }) => ({ name, ...numbersOf(readings) })) },
    table,
    show: page => [showVariants(comparison, picture, page), showNumbers(table, seeds.length, page)].join('\n\n'),
    verdict,
    next,
    files: [
      ...pictureFile(svg, picture),
      ...fileAt(html, () => reportOf(comparison, { picture, table, verdict, next, origin: typed(words) })),
    ],
  }
}

/** Whether chance decided it; then what there is to see beside the numbers; then whether other weather says the same. */
function nextOf(
  words: readonly string[],
  { seeds, html }: { seeds: readonly number[]; html: string | undefined },
): string {
  if (readsInput(words)) return OTHER_WORLDS
  if (seeds.length === 1) return typedWith(words, '--runs', '20')
  if (html === undefined) return typedWith(words, '--html', freePath('comparison.html'))
  return typedWith(words, '--seed', String(seeds.at(-1)! + 1))
}

interface MeasureColumn extends Column {
  readonly field: Measure
  readonly say: (value: number) => string
}

function measuresAt(dependency: string): readonly MeasureColumn[] {
  const columns: readonly Omit<MeasureColumn, 'align'>[] = [
    { name: 'calls per operation', field: 'amplification', say: sayNumber },
    { name: `peak at ${dependency}`, field: 'peakPerSecond', say: sayRate },
    { name: 'over capacity', field: 'overCapacityMs', say: sayMs, dropOrder: 2 },
    { name: 'served', field: 'servedShare', say: sayShare },
    { name: 'p50', field: 'p50Ms', say: sayMs, dropOrder: 3 },
    { name: 'p99', field: 'p99Ms', say: sayMs, dropOrder: 4 },
    { name: 'last', field: 'lastEndMs', say: sayMs, dropOrder: 1 },
  ]
  return columns.map(column => ({ ...column, align: 'right' }))
}

function tableOf({ what, dependency, tried }: Comparison): Table {
  const measures = measuresAt(dependency)
  const runs = tried[0]!.readings.length
  return {
    columns: [{ name: what, isProse: true }, ...measures.flatMap(column => estimateColumns(column, runs))],
    rows: tried.map(({ name, readings }) => [
      name,
      ...measures.flatMap(({ field, say }) => estimateCells(estimate(readings, field), { say, runs })),
    ]),
  }
}

function showNumbers(table: Table, runs: number, page: Page): string {
  const means = sayMeans(runs)
  const shown = showTable(table, page)
  return means === undefined ? shown : `${shown}\n${page.colors.dim(wrap(means, page.columns))}`
}

/** What the numbers are where there are several of each; undefined: there is one. */
function sayMeans(runs: number): string | undefined {
  return runs === 1
    ? undefined
    : `Means of ${runs} seeds; --csv and --json have the range of each, with 95 % confidence`
}

/** Two are one picture; more are a line each, on one scale. */
function showVariants({ tried, dependency }: Comparison, picture: Picture, page: Page): string {
  if (tried.length <= 2) return drawOn(page, picture)
  const all = tried.map(({ result }) => callsPerStep(result, dependency))
  // As long as anything is called in any of them.
  const steps = 1 + largest(all.map(counts => counts.findLastIndex(count => count > 0)))
  const calls = all.map(counts => counts.slice(0, steps))
  const longest = largest(tried.map(({ name }) => name.length))
  const columns = page.columns - longest - 2
  const max = largest(calls.flat())
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

function callsPerStep({ durationMs, stepMs, dependencies }: Tried['result'], dependency: string): number[] {
  const { first, retries, hedges } = dependencies[dependency]!.perStep
  return Array.from({ length: Math.ceil(durationMs / stepMs) }, (_, step) =>
    [first, retries, hedges].reduce((sum, counts) => sum + (counts[step] ?? 0), 0),
  )
}

/** A difference of one in a thousand is chance. */
const SAME_SHARE = 0.001
/** Where clients go on calling, all end together: then it says nothing. */
const SOONER_SHARE = 0.9

/** What the best of them are, by what the dependency bears and by what the callers get. */
function sayBest({ tried, sayName }: Comparison): string {
  const mean = ({ readings }: Tried, field: Measure): number => estimate(readings, field)?.mean ?? 0
  const least = (of: readonly Tried[], field: Measure): Tried =>
    of.reduce((best, one) => (mean(one, field) < mean(best, field) ? one : best))
  const most = largest(tried.map(one => mean(one, 'servedShare')))
  const full = tried.filter(one => mean(one, 'servedShare') >= most - SAME_SHARE)
  const fullest = least(full, 'amplification')
  const count = sayNumber(mean(fullest, 'amplification'))
  const calls = `${count} ${count === '1' ? 'call' : 'calls'} per operation`
  const [share, highest] = [sayShare(mean(fullest, 'servedShare')), sayShare(most)]
  const range = share === highest ? share : `${share} to ${highest}`
  const served =
    full.length === 1
      ? `serves most, ${share}, with ${calls}`
      : `makes the fewest calls of those that serve most, ${range}: ${calls}`
  const calmest = least(tried, 'peakPerSecond')
  const peak = `has the lowest peak, ${sayRate(mean(calmest, 'peakPerSecond'))}`
  const soonest = least(tried, 'lastEndMs')
  const latest = largest(tried.map(one => mean(one, 'lastEndMs')))
  const isSooner = mean(soonest, 'lastEndMs') < SOONER_SHARE * latest
  const done = isSooner ? `; ${sayName(soonest.name)} is done first, after ${sayMs(mean(soonest, 'lastEndMs'))}` : ''
  return calmest === fullest
    ? `${sayName(calmest.name)} ${peak}, and ${served}${done}.`
    : `${sayName(calmest.name)} ${peak}; ${sayName(fullest.name)} ${served}${done}.`
}

interface ReportParts {
  readonly picture: Picture
  readonly table: Table
  readonly verdict: string
  readonly next: readonly string[]
  readonly origin: string
}

function reportOf({ scenario, what, tried }: Comparison, { picture, table, ...rest }: ReportParts): string {
  const { heading, rows } = wordsOf(table)
  const runs = tried[0]!.readings.length
  const [drawn, means] = [sayDrawn(runs), sayMeans(runs)]
  return reportHtml({
    title: `${scenario.name}, by ${what}`,
    verdict: { kind: 'neither', say: rest.verdict },
    facts: [],
    sections: [
      { heading: 'Numbers', ...(means && { text: means }), table: { columns: heading, rows } },
      { heading: 'Arrivals', ...(drawn && { text: drawn }), picture },
      { heading: 'Latency', picture: latenciesOf(tried) },
    ],
    next: rest.next,
    origin: rest.origin,
  })
}
