import type { Resolution, Series } from '@secondwind/client'
import { sayMs } from '@secondwind/lab'
import { sayCount } from '../output/say-count.ts'
import { sayInstant } from '../output/say-time.ts'
import { wrap, type Page } from '../terminal/page.ts'
import { sparkline } from '../terminal/sparkline.ts'

type Slot = Series['slots'][number]

const LABEL_WIDTH = 12
const GAP = '  '

/** A line for each measure, the whole span in it, and its highest value with its unit at the end. */
export function showSeries(series: Series, { columns, colors, isAscii }: Page): string {
  const { slots, resolution, destination = 'all destinations' } = series
  const rows = rowsOf(series)
  const peakWidth = Math.max(...rows.map(({ peak }) => peak.length))
  const perCell = Math.max(1, Math.ceil(slots.length / (columns - LABEL_WIDTH - GAP.length - peakWidth)))
  const width = Math.ceil(slots.length / perCell)
  const [first] = slots
  const covers = first === undefined ? '' : `${sayCell(resolution, perCell)}, from ${sayInstant(first.at)}`
  const isOneLine = `${destination}, ${covers}`.length <= columns
  return [
    `${colors.bold(destination)}${isOneLine && covers !== '' ? `, ${covers}` : ''}`,
    ...(isOneLine ? [] : [wrap(`  ${covers}`, columns, '  ')]),
    '',
    ...rows.map(({ label, values, peak }) => {
      const bars = sparkline(highestOfEach(values, perCell), isAscii)
      return `  ${label}`.padEnd(LABEL_WIDTH) + bars.padEnd(width) + GAP + peak
    }),
  ].join('\n')
}

interface Row {
  readonly label: string
  readonly values: readonly number[]
  readonly peak: string
}

/** Each has a scale of its own: without its peak no row could be compared with another. */
function rowsOf({ slots, resolution }: Series): readonly Row[] {
  const row = (label: string, of: (slot: Slot) => number, say: (value: number) => string): Row => {
    const values = slots.map(of)
    const highest = Math.max(...values, 0)
    return { label, values, peak: highest === 0 ? 'none' : `peak ${say(highest)}` }
  }
  const rate = (value: number): string => `${value.toLocaleString('en')}/${UNITS[resolution]}`
  return [
    row('first', ({ first }) => first, rate),
    row('retries', ({ retry }) => retry, rate),
    row('failed', ({ failed }) => failed, rate),
    row(
      'held',
      ({ held }) => held,
      value => sayCount(value, 'task'),
    ),
    row('p99', ({ latencyMs }) => latencyMs?.p99 ?? 0, sayMs),
  ]
}

const UNITS: { readonly [resolution in Resolution]: string } = { second: 's', minute: 'min' }

function sayCell(resolution: Resolution, slots: number): string {
  return slots === 1 ? `a ${resolution} each` : `the highest of ${slots} ${resolution}s each`
}

/** The highest and not the mean: a second that was too much stays one, and the tallest bar is the peak beside it. */
function highestOfEach(values: readonly number[], size: number): readonly number[] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, cell) =>
    Math.max(...values.slice(cell * size, (cell + 1) * size)),
  )
}
