/** Tables for a terminal of 100 columns. */
import { compare, type Summary, summarize } from './statistics.ts'
import { type Lap, lapsOfRun, valuesOf, type Verdict } from './verdict.ts'
import type { Bar, Figure, Work } from './work.ts'

/** What every contender measured in one run, one block per figure. */
export function tablesOf(work: Work, laps: readonly Lap[], run: number): string {
  const ownLaps = lapsOfRun(laps, work, run)
  const blocks = work.figures.map(figure => figureTable(figure, work, ownLaps))
  return [`${work.id}  ${work.title}`, ...blocks].join('\n')
}

function figureTable(figure: Figure, work: Work, laps: readonly Lap[]): string {
  const ours = valuesOf(laps, 'secondwind', figure.key)
  const rows = work.contenders.flatMap(contender => {
    const values = valuesOf(laps, contender, figure.key)
    if (values.length === 0) return []
    const { median, min, max } = summarize(values)
    const cells = [contender, digits(median), spread(min, max)]
    if (contender === 'secondwind' || ours.length === 0) return [cells]
    const ratio = compare(ours, values, figure.moreIsBetter)
    return [[...cells, digits(ratio.median), spread(ratio.min, ratio.max), digits(ratio.best)]]
  })
  const heading = ['', 'median', 'min..max', 'ours ÷ it', 'per round', 'best ÷ best']
  const lines = [figure.label, ...[heading, ...rows].map(tableRow), ...caution(figure, work, laps)]
  return lines.map(line => `   ${line}`).join('\n')
}

/** A yardstick never changes: when its own laps lie further apart than this, the machine was not ours. */
const QUIET_SPREAD = 1.5

/** The yardstick is what the first bar holds us against. */
function caution(figure: Figure, work: Work, laps: readonly Lap[]): string[] {
  const yardstick = work.bars.find(({ times }) => times !== undefined)?.times
  const values = yardstick === undefined ? [] : valuesOf(laps, yardstick, figure.key)
  if (values.length === 0) return []
  const { min, max } = summarize(values)
  if (max <= QUIET_SPREAD * min) return []
  return [`(busy machine: the laps of ${yardstick} differ by ${digits(max / min)} ×, so read ratios with care)`]
}

const WIDTHS = [18, 11, 20, 12, 16, 14]

function tableRow(cells: readonly string[]): string {
  return cells
    .map((cell, column) => (column === 0 ? cell.padEnd(WIDTHS[column]!) : cell.padStart(WIDTHS[column]!)))
    .join('')
    .trimEnd()
}

/** One line per bar: its result, and each run's figure with its spread over the rounds. */
export function verdictTable(verdicts: readonly Verdict[]): string {
  const idWidth = Math.max(4, ...verdicts.map(({ work }) => work.id.length + 1))
  return verdicts.map(verdict => verdictLines(verdict, idWidth)).join('\n')
}

function verdictLines({ work, bar, runs, result }: Verdict, idWidth: number): string {
  const [first = '', ...others] = runs.map(({ measured, isHeld }) => runCell(measured, isHeld))
  const named = `${work.id.padEnd(idWidth)}${describeBar(bar, work)} `.padEnd(56)
  const firstLine = `${named}${result.padEnd(14)}${first}`.trimEnd()
  return [firstLine, ...others.map(cell => ' '.repeat(70) + cell)].join('\n')
}

function runCell({ median, min, max }: Summary, isHeld: boolean): string {
  return `${digits(median)} (${spread(min, max)})${isHeld ? '' : ' !'}`
}

function describeBar({ figure, sign, limit, times, isGoal }: Bar, work: Work): string {
  const label = work.figures.find(({ key }) => key === figure)?.label ?? figure
  return `${label} ${sign} ${shortest(limit)}${times ? ` × ${times}` : ''}${isGoal ? ' (goal)' : ''}`
}

function spread(min: number, max: number): string {
  return `${digits(min)}..${digits(max)}`
}

/** A limit as people say it: 0.125 stays, a third is 0.333. */
function shortest(limit: number): string {
  return `${Number(limit.toFixed(3))}`
}

/** Three digits that count; more would be noise. */
export function digits(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2)
}
