import { plain, wrap, type Page } from './page.ts'
import { visible, visibleLines } from './visible.ts'

export interface Table {
  readonly columns: readonly Column[]
  readonly rows: readonly (readonly Cell[])[]
}

export interface Column {
  readonly name: string
  /** What other programs call it, its unit last: `p99Ms`. Absent: its name. */
  readonly field?: string
  /** Numbers stand below each other by their last digit. */
  readonly align?: 'left' | 'right'
  /** What may be left out first when the terminal is narrow; absent: never. */
  readonly dropOrder?: number
  /** Words, which may stand in several lines when there is nothing to leave out. */
  readonly isProse?: true
  /** Left out where all that can be broken is broken, and it is still too wide. */
  readonly isSpare?: true
  /** Too much for a page; other programs get it. */
  readonly isOnlyData?: true
}

export type Cell = string | number | Said

/** What other programs get, and its words for people; without a value there is nothing to tell them. */
export interface Said {
  readonly value: number | string | boolean | undefined
  readonly say: string
}

/** A value that no page shows. */
export function unsaid(value: number | boolean | undefined): Said {
  return { value, say: '' }
}

const GAP = '  '

/** For people: as wide as it needs to be, and never wider than the page, for whose sake columns are left out. */
export function showTable(table: Table, page: Page): string {
  const { heading, rows, columns } = fit(pageOf(table, page), page.columns)
  const widths = widthsOf({ heading, rows, columns })
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, index) => pad(cell, widths[index] ?? 0, columns[index]?.align ?? 'left'))
      .join(GAP)
      .trimEnd()
  const lines = heading.filter(cells => cells.some(cell => cell !== ''))
  return [...lines.map(cells => page.colors.dim(line(cells))), ...rows.map(line)].join('\n')
}

/** What a page shows of it: words only. */
interface PageTable {
  readonly columns: readonly Column[]
  /** In one line, or in two where that makes the table fit. */
  readonly heading: readonly (readonly string[])[]
  readonly rows: readonly (readonly string[])[]
}

function pageOf(table: Table, { isAscii }: Page): PageTable {
  const { columns, heading, rows } = wordsOf(table)
  const line = (cells: readonly string[]): readonly string[] => (isAscii ? cells.map(plain) : cells)
  return { columns, heading: [line(heading.map(name => name.toUpperCase()))], rows: rows.map(line) }
}

/** What people read of it: words, without what is only for other programs. */
export function wordsOf({ columns, rows }: Table): {
  readonly columns: readonly Column[]
  readonly heading: readonly string[]
  readonly rows: readonly (readonly string[])[]
} {
  const shown = <T>(cells: readonly T[]): T[] => cells.filter((_, index) => !columns[index]?.isOnlyData)
  const say = (cell: Cell): string => visible(typeof cell === 'object' ? cell.say : String(cell))
  return {
    columns: shown(columns),
    heading: shown(columns).map(({ name }) => name),
    rows: rows.map(row => shown(row).map(say)),
  }
}

/** Headings in two lines come first, then columns that may be missing, then cells of several lines, and what can be spared at last. */
function fit(table: PageTable, width: number): PageTable {
  if (totalOf(widthsOf(table)) <= width) return table
  if (table.heading.length === 1) return fit({ ...table, heading: inTwoLines(table) }, width)
  // First of all what is empty in every row.
  const order = table.columns.map(({ dropOrder = Infinity }, index) =>
    dropOrder < Infinity && table.rows.every(row => row[index] === '') ? -1 : dropOrder,
  )
  const first = Math.min(...order)
  if (first < Infinity) return fit(withoutColumn(table, order.indexOf(first)), width)
  const broken = inLines(table, width)
  const spare = table.columns.findIndex(({ isSpare }) => isSpare)
  return spare < 0 || totalOf(widthsOf(broken)) <= width ? broken : fit(withoutColumn(table, spare), width)
}

function withoutColumn({ columns, heading, rows }: PageTable, dropped: number): PageTable {
  const without = <T>(cells: readonly T[]): T[] => cells.filter((_, index) => index !== dropped)
  return { columns: without(columns), heading: heading.map(without), rows: rows.map(without) }
}

/** Broken at the space nearest to the middle; what has none stays in the lower line. */
function inTwoLines({ heading }: PageTable): string[][] {
  const broken = heading[0]!.map(name => {
    const spaces = Array.from(name.matchAll(/ /g), ({ index }) => index)
    const [at] = spaces.toSorted((one, other) => Math.abs(one - name.length / 2) - Math.abs(other - name.length / 2))
    return at === undefined ? ['', name] : [name.slice(0, at), name.slice(at + 1)]
  })
  return [broken.map(([upper]) => upper!), broken.map(([, lower]) => lower!)]
}

/** Narrower than this a sentence cannot be read. */
const LEAST_PROSE = 10

/** The widest words are broken until all fits, or until none can be broken any more. */
function inLines(table: PageTable, width: number): PageTable {
  const { columns, heading } = table
  const least = columns.map((_, index) => Math.max(LEAST_PROSE, ...heading.map(cells => cells[index]?.length ?? 0)))
  const widths = widthsOf(table)
  for (let excess = totalOf(widths) - width; excess > 0; excess--) {
    const broken = widths.map((own, index) => (columns[index]?.isProse && own > least[index]! ? own : 0))
    const widest = Math.max(...broken)
    if (widest === 0) break
    widths[broken.indexOf(widest)]!--
  }
  return { ...table, rows: table.rows.flatMap(row => linesOf(row, widths)) }
}

/** A row as the lines that it takes. */
function linesOf(row: readonly string[], widths: readonly number[]): string[][] {
  const cells = row.map((cell, index) => brokenAt(cell, widths[index]!))
  const lines = Math.max(...cells.map(({ length }) => length))
  return Array.from({ length: lines }, (_, line) => cells.map(cell => cell[line] ?? ''))
}

/** Between words, and within one that is longer than a line. */
function brokenAt(cell: string, width: number): string[] {
  const pieces = cell.replaceAll(new RegExp(`(\\S{${width}})(?=\\S)`, 'g'), '$1 ')
  return wrap(pieces, width).split('\n')
}

function widthsOf({ columns, heading, rows }: PageTable): number[] {
  return columns.map((_, index) => Math.max(...[...heading, ...rows].map(row => row[index]?.length ?? 0)))
}

function totalOf(widths: readonly number[]): number {
  return widths.reduce((all, column) => all + column + GAP.length, -GAP.length)
}

function pad(text: string, width: number, align: 'left' | 'right'): string {
  return align === 'right' ? text.padStart(width) : text.padEnd(width)
}

/** For other programs: all columns, separated by tabs. */
export function tabSeparated(table: Table): string {
  // A line break or a tab of a text that people wrote is as good as a space.
  const clean = (cell: string): string => visible(cell.replaceAll(/[\t\n]/g, ' '))
  return dataOf(table)
    .map(cells => cells.map(clean).join('\t'))
    .join('\n')
}

/** RFC 4180: quoted where a comma, a quote or a line break demands it. */
export function commaSeparated(table: Table): string {
  const quote = (cell: string): string => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
  return dataOf(table)
    .map(cells => cells.map(cell => quote(visibleLines(asText(cell)))).join(','))
    .join('\n')
}

/** A spreadsheet runs what begins like a formula, and tenants write what operators read: OWASP's apostrophe makes it a text. */
function asText(cell: string): string {
  return /^[=+\-@\t\r]/.test(cell) && !IS_NUMBER.test(cell) ? `'${cell}` : cell
}

const IS_NUMBER = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i

function dataOf({ columns, rows }: Table): readonly (readonly string[])[] {
  const datum = (cell: Cell): string => String(typeof cell === 'object' ? (cell.value ?? '') : cell)
  return [columns.map(({ name, field = name }) => field), ...rows.map(row => row.map(datum))]
}
