import type { Summary } from './statistics.ts'
import type { Paint } from './colours.ts'

interface Column {
  readonly title: string
  readonly cell: (summary: Summary) => string
}

const COLUMNS: readonly Column[] = [
  { title: 'succeeded', cell: ({ succeeded }) => whole(succeeded) },
  { title: 'failed', cell: ({ failed }) => whole(failed) },
  { title: 'server saw', cell: ({ arrived }) => whole(arrived) },
  { title: 'peak/s', cell: ({ peakPerSecond }) => whole(peakPerSecond) },
  { title: 'per call', cell: ({ amplification }) => `${amplification.toFixed(2)} ×` },
  { title: 'p50', cell: ({ p50Ms }) => milliseconds(p50Ms) },
  { title: 'p95', cell: ({ p95Ms }) => milliseconds(p95Ms) },
]

/** Names to the left, figures to the right, each column as wide as its widest cell. */
export function table(summaries: readonly Summary[], paints: readonly Paint[], nameWidth: number): string[] {
  const rows = summaries.map(summary => COLUMNS.map(({ cell }) => cell(summary)))
  const widths = COLUMNS.map(({ title }, index) => Math.max(title.length, ...rows.map(row => row[index]!.length)))
  const line = (cells: readonly string[]): string =>
    cells.map((cell, index) => `  ${cell.padStart(widths[index]!)}`).join('')
  return [
    ' '.repeat(nameWidth) + line(COLUMNS.map(({ title }) => title)),
    ...summaries.map(({ name }, index) => paints[index]!(name.padEnd(nameWidth)) + line(rows[index]!)),
  ]
}

export function whole(count: number): string {
  return count.toLocaleString('en-US')
}

function milliseconds(ms: number): string {
  return Number.isNaN(ms) ? '–' : `${Math.round(ms)} ms`
}
