/** Columns of calls a second: one policy split by why the calls were made, or two laid over each other. */
import { roundStep, timeAxis } from '../axis.ts'
import { columnsOf, sayFirst, spansBefore, type Column } from '../buckets.ts'
import { sayMs, sayNumber, sayRate } from '../format.ts'
import type { ArrivalsPicture } from '../picture.ts'
import {
  EMPTY,
  framed,
  legend,
  widthBeside,
  wrapped,
  type Cell,
  type LegendEntry,
  type Line,
  type Sheet,
} from './frame.ts'
import type { Glyphs } from './glyphs.ts'

export function arrivalsLines(picture: ArrivalsPicture, sheet: Sheet): Line[] {
  const { series, capacityPerSecond } = picture
  if (series.length > 2)
    return series.flatMap(one => arrivalsLines({ ...picture, title: one.name, series: [one] }, sheet))
  const scale = scaleOf(picture, sheet)
  const { columns: merged, times } = scale
  const heights = merged.series.map(({ columns }) => columns)
  const cells = heights[0]!.map((column, index) =>
    heights.length === 1
      ? stacked(column, scale, sheet)
      : laidOver(column.total, heights[1]![index]!.total, scale, sheet),
  )
  const all = Array.from({ length: scale.rows }, (_, row) =>
    cells.flatMap(column => Array.from({ length: times }, () => column[scale.rows - 1 - row]!)),
  )
  // The highest may reach less than half of its row, and leave it empty.
  const [rows, labels] = all[0]!.every(cell => cell === EMPTY)
    ? [all.slice(1), scale.labels.slice(1)]
    : [all, scale.labels]
  const axis = timeAxis(merged.endMs, 7)
  return [
    ...wrapped(`${picture.title}, calls/s in columns of ${sayMs(merged.columnMs)}`, sheet, 'title'),
    ...legend([...entries(picture, cells, sheet), ...capacityEntry(capacityPerSecond, scale)], sheet),
    ...framed({ rows, labels, axis, spans: spansBefore(merged.endMs, picture) }, sheet),
  ]
}

/** What a stack of cells must know of its scale. */
export interface Heights {
  /** The amount that one row stands for. */
  readonly step: number
  readonly rows: number
  /** The row that the capacity lies in, at its upper edge where that can be had. */
  readonly capacityRow: number | undefined
  readonly capacityLine: string
}

interface Scale extends Heights {
  /** From top to bottom; each names what a row has reached when it is full. */
  readonly labels: readonly string[]
  readonly columns: ReturnType<typeof columnsOf>
  /** How many columns of the terminal show one of ours. */
  readonly times: number
}

/** Parts of the capacity, finest first. */
const CAPACITY_PARTS = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]
/** Rows more than asked for, if the capacity then lies between two. */
const SPARE_ROWS = 3

function scaleOf(picture: ArrivalsPicture, sheet: Sheet): Scale {
  const capacity = picture.capacityPerSecond
  // The finest buckets have the highest peak: labels that fit beside it fit beside all.
  const finest = columnsOf(picture, Number.MAX_SAFE_INTEGER)
  const room = widthBeside([longestUpTo(2 * Math.max(finest.peakPerSecond, capacity ?? 0))], sheet)
  const columns = columnsOf(picture, room)
  const top = Math.max(columns.peakPerSecond, capacity ?? 0) || 1
  const rowsAt = (step: number): number => Math.ceil(top / step - 1e-9)
  // Rows end exactly at the capacity where that can be had: what stands in the row above it is over.
  const fitting = capacity
    ? CAPACITY_PARTS.map(parts => capacity / parts).filter(step => rowsAt(step) <= sheet.rows + SPARE_ROWS)
    : []
  const step = fitting.find(isRound) ?? fitting[0] ?? roundStep(top / sheet.rows)
  const rows = rowsAt(step)
  const capacityRow = capacity ? Math.ceil(capacity / step - 1e-9) - 1 : undefined
  // A line at the edge of a row claims that it is exactly there.
  const isAtEdge = capacity !== undefined && Math.abs(capacity / step - Math.round(capacity / step)) < 1e-9
  const capacityLine = isAtEdge ? sheet.glyphs.capacity : sheet.glyphs.capacityInside
  // Every second row, and the edge at the capacity among them.
  const labelled = isAtEdge ? capacityRow! : 1
  const labels = Array.from({ length: rows }, (_, row) => {
    const upper = rows - row
    return (upper - 1 - labelled) % 2 === 0 ? sayNumber(upper * step) : ''
  })
  const times = Math.max(1, Math.floor(room / columns.series[0]!.columns.length))
  return { step, rows, labels, capacityRow, capacityLine, columns, times }
}

/** As wide as any label of an amount up to this one. */
export function longestUpTo(amount: number): string {
  const whole = sayNumber(Math.min(amount, 999_999_999))
  if (whole.length > 6) return whole
  return amount < SMALL ? '1.0e-10' : '1.0e-5'
}

/** Rows of smaller amounts have labels whose exponents have two digits. */
const SMALL = 1e-7

/** A number that people count by. */
function isRound(step: number): boolean {
  const digits = step / 10 ** Math.floor(Math.log10(step))
  return [1, 1.25, 2, 2.5, 5].some(round => Math.abs(digits - round) < 1e-9)
}

/** From the bottom up: first attempts, retries on top of them, hedges on top of both. */
export function stacked({ first, retries, total }: Column, scale: Heights, { glyphs }: Sheet): Cell[] {
  return upward(scale, row => {
    const filled = Math.min(1, total / scale.step - row)
    if (filled <= 0) return emptyCell(row, scale)
    // A cell shows one kind: that of the middle of what is filled.
    const middle = (row + filled / 2) * scale.step
    const ink = middle <= first ? 'first' : middle <= first + retries ? 'retries' : 'hedges'
    if (ink === 'first') return { text: filledBy(filled, glyphs), ink }
    if (filled >= 0.5) return { text: glyphs[ink], ink }
    // Colour alone must not say what a call was: only first attempts are drawn finer than half a cell.
    return row === 0 ? { text: glyphs.few, ink } : emptyCell(row, scale)
  })
}

function filledBy(share: number, { isAscii, partial, full }: Glyphs): string {
  const eighths = Math.round(share * 8)
  if (isAscii) return eighths < 4 ? partial[0]! : full
  return eighths < 8 ? partial[Math.max(0, eighths - 1)]! : full
}

/** What both have reached is solid; what only one has reached shows whose it is. */
function laidOver(one: number, other: number, scale: Scale, { glyphs }: Sheet): Cell[] {
  return upward(scale, row => {
    const reaches = (value: number): boolean => value / scale.step - row >= 0.5
    if (reaches(one) && reaches(other)) return { text: glyphs.full, ink: 'both' }
    if (reaches(one)) return { text: glyphs.hedges, ink: 'one' }
    if (reaches(other)) return { text: glyphs.second, ink: 'other' }
    const isTrace = row === 0 && one + other > 0
    return isTrace ? { text: glyphs.partial[0]!, ink: 'both' } : emptyCell(row, scale)
  })
}

function upward({ rows }: Heights, cell: (row: number) => Cell): Cell[] {
  return Array.from({ length: rows }, (_, row) => cell(row))
}

function emptyCell(row: number, { capacityRow, capacityLine }: Heights): Cell {
  return row === capacityRow ? { text: capacityLine, ink: 'capacity' } : EMPTY
}

function entries(picture: ArrivalsPicture, cells: readonly (readonly Cell[])[], { glyphs }: Sheet): LegendEntry[] {
  const [one, other] = picture.series
  if (other !== undefined)
    return [
      { text: glyphs.full, ink: 'both', name: 'both' },
      { text: glyphs.hedges, ink: 'one', name: `only ${one!.name}` },
      { text: glyphs.second, ink: 'other', name: `only ${other.name}` },
    ]
  const has = (counts: readonly number[] = []): boolean => counts.some(count => count > 0)
  return [
    { text: glyphs.full, ink: 'first', name: sayFirst(picture) },
    ...(has(one!.retries) ? [{ text: glyphs.retries, ink: 'retries' as const, name: 'retries' }] : []),
    ...(has(one!.hedges) ? [{ text: glyphs.hedges, ink: 'hedges' as const, name: 'hedges' }] : []),
    ...(cells.some(([lowest]) => lowest!.text === glyphs.few)
      ? [{ text: glyphs.few, ink: 'retries' as const, name: 'a few of them' }]
      : []),
  ]
}

function capacityEntry(capacityPerSecond: number | undefined, { capacityLine }: Scale): LegendEntry[] {
  if (!capacityPerSecond) return []
  return [{ text: capacityLine, ink: 'capacity', name: `capacity ${sayRate(capacityPerSecond)}` }]
}
