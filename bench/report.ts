/** Tables for a terminal of 100 columns. */
import { compare, type Summary, summarize } from './statistics.ts'
import { type Lap, lapsOfRun, valuesOf, type Verdict } from './verdict.ts'
import type { Bar, Figure, Work } from './works/work.ts'

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
    const ratio = compare(ours, values)
    return [[...cells, digits(ratio.median), spread(ratio.min, ratio.max), digits(ratio.best)]]
  })
  const heading = ['', 'median', 'min..max', 'ours ÷ it', 'per lap', 'best ÷ best']
  const lines = [figure.label, ...[heading, ...rows].map(tableRow), ...caution(valuesOf(laps, 'loop', figure.key))]
  return lines.map(line => `   ${line}`).join('\n')
}

/** The loop never changes: when its own laps lie further apart than this, the machine was not ours. */
const QUIET_SPREAD = 1.5

function caution(loopValues: readonly number[]): string[] {
  if (loopValues.length === 0) return []
  const { min, max } = summarize(loopValues)
  if (max <= QUIET_SPREAD * min) return []
  return [`(busy machine: the loop's own laps differ by ${digits(max / min)} ×, so read ratios with care)`]
}

const WIDTHS = [18, 11, 20, 12, 16, 14]

function tableRow(cells: readonly string[]): string {
  return cells
    .map((cell, column) => (column === 0 ? cell.padEnd(WIDTHS[column]!) : cell.padStart(WIDTHS[column]!)))
    .join('')
    .trimEnd()
}

/** One line per bar: its result, and each run's figure with its spread over the laps. */
export function verdictTable(verdicts: readonly Verdict[]): string {
  return verdicts.map(verdictLines).join('\n')
}

function verdictLines({ work, bar, runs, result }: Verdict): string {
  const [first = '', ...others] = runs.map(({ measured, isHeld }) => runCell(measured, isHeld))
  const firstLine = `${work.id.padEnd(4)}${describeBar(bar, work).padEnd(48)}${result.padEnd(14)}${first}`.trimEnd()
  return [firstLine, ...others.map(cell => ' '.repeat(66) + cell)].join('\n')
}

function runCell({ median, min, max }: Summary, isHeld: boolean): string {
  return `${digits(median)} (${spread(min, max)})${isHeld ? '' : ' !'}`
}

function describeBar({ figure, sign, limit, times, isGoal }: Bar, work: Work): string {
  const label = work.figures.find(({ key }) => key === figure)?.label ?? figure
  return `${label} ${sign} ${limit}${times ? ` × ${times}` : ''}${isGoal ? ' (goal)' : ''}`
}

function spread(min: number, max: number): string {
  return `${digits(min)}..${digits(max)}`
}

/** Three digits that count; more would be noise. */
export function digits(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2)
}
