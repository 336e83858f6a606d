/** Two panels over one axis: tasks that wait and, below, requests a second by their result. */
import { roundStep, timeAxis } from '../axis.ts'
import { deliveryColumns, type DeliveryColumns } from '../delivery-columns.ts'
import { sayMs, sayNumber, sayRate } from '../format.ts'
import type { DeliveriesPicture } from '../picture.ts'
import { longestUpTo, stacked, type Heights } from './arrivals.ts'
import { EMPTY, framed, legend, widthBeside, wrapped, type Cell, type LegendEntry, type Line } from './frame.ts'
import type { Sheet } from './frame.ts'

/** Requests have more rows: they are of two kinds. */
const WAITING_ROWS = 0.4

export function deliveriesLines(picture: DeliveriesPicture, sheet: Sheet): Line[] {
  const { capacityPerSecond, spans = [] } = picture
  // The finest columns have the highest peak: labels that fit beside it fit beside all.
  const finest = deliveryColumns(picture, Number.MAX_SAFE_INTEGER)
  const largest = Math.max(finest.mostWaiting, 2 * finest.peakPerSecond, capacityPerSecond ?? 0)
  const room = widthBeside([longestUpTo(2 * largest)], sheet)
  const columns = deliveryColumns(picture, room)
  const times = Math.max(1, Math.floor(room / columns.requests.length))
  const { above, below, capacityLine } = panelsOf(picture, columns, sheet)
  const width = times * columns.requests.length
  const gap = Array.from({ length: width }, () => EMPTY)
  const cells = (panel: Panel): Cell[][] => rowsOf(panel, times)
  const drawn = cells(below).flat()
  return [
    ...wrapped(`${picture.title}, in columns of ${sayMs(columns.columnMs)}`, sheet, 'title'),
    ...legend(entries(sheet, drawn, capacityPerSecond, capacityLine), sheet),
    ...framed(
      {
        rows: [...cells(above), gap, ...cells(below)],
        labels: [...labelsOf(above), '', ...labelsOf(below)],
        axis: timeAxis(columns.endMs, 7),
        spans: spans.filter(({ fromMs }) => fromMs < columns.endMs),
      },
      sheet,
    ),
  ]
}

interface Panel extends Heights {
  /** Each from the bottom up. */
  readonly columns: readonly (readonly Cell[])[]
}

interface Panels {
  readonly above: Panel
  readonly below: Panel
  readonly capacityLine: string
}

function panelsOf(
  { capacityPerSecond }: DeliveriesPicture,
  { waiting, requests, mostWaiting, peakPerSecond }: DeliveryColumns,
  sheet: Sheet,
): Panels {
  const rowsAbove = Math.max(2, Math.round(sheet.rows * WAITING_ROWS))
  const aboveHeights = heightsOf(mostWaiting, rowsAbove)
  const belowHeights = heightsOf(Math.max(peakPerSecond, capacityPerSecond ?? 0), Math.max(2, sheet.rows - rowsAbove))
  const { step } = belowHeights
  // A line at the edge of a row claims that it is exactly there.
  const isAtEdge = capacityPerSecond !== undefined && Math.abs((capacityPerSecond / step) % 1) < 1e-9
  const capacityLine = isAtEdge ? sheet.glyphs.capacity : sheet.glyphs.capacityInside
  const withCapacity: Heights = {
    ...belowHeights,
    capacityLine,
    capacityRow: capacityPerSecond ? Math.ceil(capacityPerSecond / step - 1e-9) - 1 : undefined,
  }
  const tasks = (count: number): Cell[] =>
    stacked({ first: count, retries: 0, hedges: 0, total: count }, aboveHeights, sheet).map(cell =>
      cell.ink === 'first' ? { ...cell, ink: 'both' } : cell,
    )
  return {
    above: { ...aboveHeights, columns: waiting.map(tasks) },
    below: { ...withCapacity, columns: requests.map(column => stacked(column, withCapacity, sheet)) },
    capacityLine,
  }
}

function heightsOf(largest: number, most: number): Heights {
  const top = largest || 1
  const step = roundStep(top / most)
  return { step, rows: Math.ceil(top / step - 1e-9), capacityRow: undefined, capacityLine: '' }
}

function rowsOf({ columns, rows }: Panel, times: number): Cell[][] {
  return Array.from({ length: rows }, (_, row) =>
    columns.flatMap(column => Array.from({ length: times }, () => column[rows - 1 - row] ?? EMPTY)),
  )
}

/** The upper edge of every second row, the highest among them. */
function labelsOf({ rows, step }: Panel): string[] {
  return Array.from({ length: rows }, (_, row) => (row % 2 === 0 ? sayNumber((rows - row) * step) : ''))
}

function entries(
  { glyphs }: Sheet,
  below: readonly Cell[],
  capacityPerSecond: number | undefined,
  capacityLine: string,
): LegendEntry[] {
  return [
    { text: glyphs.full, ink: 'both', name: 'above: tasks that wait' },
    { text: glyphs.full, ink: 'first', name: 'below: requests/s answered' },
    { text: glyphs.retries, ink: 'retries', name: 'failed' },
    ...(below.some(({ text }) => text === glyphs.few)
      ? [{ text: glyphs.few, ink: 'retries' as const, name: 'a few of them' }]
      : []),
    ...(capacityPerSecond === undefined
      ? []
      : [{ text: capacityLine, ink: 'capacity' as const, name: `capacity ${sayRate(capacityPerSecond)}` }]),
  ]
}
