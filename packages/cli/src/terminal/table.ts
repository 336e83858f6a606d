import type { Page } from './page.ts'

export interface Table {
  readonly columns: readonly Column[]
  readonly rows: readonly (readonly Cell[])[]
}

export interface Column {
  readonly name: string
  /** Numbers stand below each other by their last digit. */
  readonly align?: 'left' | 'right'
  /** What may be left out first when the terminal is narrow; absent: never. */
  readonly dropOrder?: number
  /** Prose, of which the end may be left out when there is nothing else to leave out. */
  readonly isProse?: true
}

export type Cell = string | number

const GAP = '  '

/** For people: as wide as it needs to be, and never wider than the page, for whose sake columns are left out. */
export function showTable(table: Table, page: Page): string {
  const { columns, rows } = fit(table, page.columns)
  const widths = widthsOf({ columns, rows })
  const line = (cells: readonly Cell[]): string =>
    cells
      .map((cell, index) => pad(String(cell), widths[index] ?? 0, columns[index]?.align ?? 'left'))
      .join(GAP)
      .trimEnd()
  const heading = line(columns.map(({ name }) => name.toUpperCase()))
  return [page.colors.dim(heading), ...rows.map(line)].join('\n')
}

function fit(table: Table, width: number): Table {
  const excess = widthsOf(table).reduce((all, column) => all + column + GAP.length, -GAP.length) - width
  if (excess <= 0) return table
  const order = table.columns.map(({ dropOrder = Infinity }) => dropOrder)
  const first = Math.min(...order)
  if (first === Infinity) return shorten(table, excess)
  const dropped = order.indexOf(first)
  const without = <T>(cells: readonly T[]): T[] => cells.filter((_, index) => index !== dropped)
  return fit({ columns: without(table.columns), rows: table.rows.map(without) }, width)
}

/** So little of a sentence says nothing any more. */
const LEAST_PROSE = 12

function shorten(table: Table, excess: number): Table {
  const prose = table.columns.findIndex(({ isProse }) => isProse)
  if (prose < 0) return table
  const width = Math.max(LEAST_PROSE, widthsOf(table)[prose]! - excess)
  const clip = (cell: Cell): Cell => (String(cell).length > width ? `${String(cell).slice(0, width - 1)}…` : cell)
  return { ...table, rows: table.rows.map(row => row.map((cell, index) => (index === prose ? clip(cell) : cell))) }
}

function widthsOf({ columns, rows }: Table): number[] {
  return columns.map(({ name }, index) => Math.max(name.length, ...rows.map(row => String(row[index] ?? '').length)))
}

function pad(text: string, width: number, align: 'left' | 'right'): string {
  return align === 'right' ? text.padStart(width) : text.padEnd(width)
}

/** For other programs: all columns, separated by tabs. */
export function tabSeparated({ columns, rows }: Table): string {
  const clean = (cell: Cell): string => String(cell).replaceAll(/[\t\n]/g, ' ')
  return [columns.map(({ name }) => name), ...rows].map(cells => cells.map(clean).join('\t')).join('\n')
}

/** RFC 4180: quoted where a comma, a quote or a line break demands it. */
export function commaSeparated({ columns, rows }: Table): string {
  const quote = (cell: Cell): string => {
    const text = String(cell)
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
  return [columns.map(({ name }) => name), ...rows].map(cells => cells.map(quote).join(',')).join('\n')
}
