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
  /** An address, which is broken between its scheme and its host alone: half a port is another one. */
  readonly isAddress?: true
  /** In a line of its own below each row, where all that can be broken is broken and the table is still too wide. */
  readonly isBelow?: true
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
  const [first, ...more] = layersOf(pageOf(table, page), page.columns)
  const layers = [drawn(first!, ''), ...more.map(layer => drawn(layer, GAP))]
  const linesOfRow = (index: number): string[] => layers.flatMap(({ rows }) => rows[index]!).filter(line => line !== '')
  return [
    ...layers.flatMap(({ heading }) => heading.map(line => page.colors.dim(line))),
    ...table.rows.flatMap((_, index) => linesOfRow(index)),
  ].join('\n')
}

/** All in one where that fits; else what may stand below each row does. */
function layersOf(table: PageTable, width: number): readonly PageTable[] {
  const one = fit(table, width)
  if (isWithin(one, width) || !table.columns.some(({ isBelow }) => isBelow)) return [one]
  const [above, below] = [withColumns(table, ({ isBelow }) => !isBelow), withColumns(table, ({ isBelow }) => !!isBelow)]
  return [fit(above, width), fit(below, width - GAP.length)]
}

function drawn(
  table: PageTable,
  indent: string,
): { readonly heading: readonly string[]; readonly rows: readonly (readonly string[])[] } {
  const { heading, rows, columns } = table
  const widths = widthsOf(table)
  const line = (cells: readonly string[]): string =>
    `${indent}${cells.map((cell, index) => pad(cell, widths[index] ?? 0, columns[index]?.align ?? 'left')).join(GAP)}`.trimEnd()
  return {
    heading: heading.filter(cells => cells.some(cell => cell !== '')).map(line),
    rows: rows.map(lines => lines.map(line)),
  }
}

/** What a page shows of it: words only. */
interface PageTable {
  readonly columns: readonly Column[]
  /** In one line, or in two where that makes the table fit. */
  readonly heading: readonly (readonly string[])[]
  /** Each as the lines that it takes. */
  readonly rows: readonly (readonly (readonly string[])[])[]
}

function pageOf(table: Table, { isAscii }: Page): PageTable {
  const { columns, heading, rows } = wordsOf(table)
  const line = (cells: readonly string[]): readonly string[] => (isAscii ? cells.map(plain) : cells)
  return { columns, heading: [line(heading.map(name => name.toUpperCase()))], rows: rows.map(row => [line(row)]) }
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

/** Headings in two lines come first, then columns that may be missing, and cells of several lines at last. */
function fit(table: PageTable, width: number): PageTable {
  if (isWithin(table, width)) return table
  if (table.heading.length === 1) return fit({ ...table, heading: inTwoLines(table) }, width)
  // First of all what is empty in every row.
  const order = table.columns.map(({ dropOrder = Infinity }, index) =>
    dropOrder < Infinity && table.rows.every(([row]) => row?.[index] === '') ? -1 : dropOrder,
  )
  const first = Math.min(...order)
  if (first < Infinity)
    return fit(
      withColumns(table, (_, index) => index !== order.indexOf(first)),
      width,
    )
  return inLines(table, width)
}

function isWithin(table: PageTable, width: number): boolean {
  return totalOf(widthsOf(table)) <= width
}

function withColumns(
  { columns, heading, rows }: PageTable,
  isKept: (column: Column, index: number) => boolean,
): PageTable {
  const kept = <T>(cells: readonly T[]): T[] => cells.filter((_, index) => isKept(columns[index]!, index))
  return { columns: kept(columns), heading: heading.map(kept), rows: rows.map(lines => lines.map(kept)) }
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
  const { columns, heading, rows } = table
  const cellsOf = (index: number): string[] => rows.flatMap(lines => lines.map(cells => cells[index] ?? ''))
  const least = columns.map(({ isAddress }, index) => {
    const whole = isAddress ? cellsOf(index).flatMap(cell => cell.split(BEHIND_SCHEME)) : []
    return Math.max(LEAST_PROSE, ...[...heading.map(cells => cells[index] ?? ''), ...whole].map(({ length }) => length))
  })
  const canBreak = columns.map(({ isProse, isAddress }) => isProse ?? isAddress ?? false)
  const widths = widthsOf(table)
  for (let excess = totalOf(widths) - width; excess > 0; excess--) {
    const broken = widths.map((own, index) => (canBreak[index] && own > least[index]! ? own : 0))
    const widest = Math.max(...broken)
    if (widest === 0) break
    widths[broken.indexOf(widest)]!--
  }
  const breaks = columns.map(({ isAddress }) => (isAddress ? addressBrokenAt : brokenAt))
  return { ...table, rows: rows.map(lines => lines.flatMap(row => linesOf(row, widths, breaks))) }
}

type Break = (cell: string, width: number) => readonly string[]

/** A row as the lines that it takes. */
function linesOf(row: readonly string[], widths: readonly number[], breaks: readonly Break[]): string[][] {
  const cells = row.map((cell, index) => breaks[index]!(cell, widths[index]!))
  const lines = Math.max(...cells.map(({ length }) => length))
  return Array.from({ length: lines }, (_, line) => cells.map(cell => cell[line] ?? ''))
}

/** Between words, and within one that is longer than a line. */
const brokenAt: Break = (cell, width) => {
  const pieces = cell.replaceAll(new RegExp(`(\\S{${width}})(?=\\S)`, 'g'), '$1 ')
  return wrap(pieces, width).split('\n')
}

const BEHIND_SCHEME = /(?<=:\/\/)/

const addressBrokenAt: Break = (cell, width) => (cell.length <= width ? [cell] : cell.split(BEHIND_SCHEME))

function widthsOf({ columns, heading, rows }: PageTable): number[] {
  const lines = [...heading, ...rows.flat()]
  return columns.map((_, index) => Math.max(...lines.map(row => row[index]?.length ?? 0)))
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
