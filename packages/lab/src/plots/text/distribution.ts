/** Shares by time: a letter for each policy, an asterisk where they meet. */
import type { Axis } from '../axis.ts'
import { sayShare } from '../format.ts'
import type { DistributionPicture, DistributionSeries } from '../picture.ts'
import { shareAt } from '../share-at.ts'
import { distributionAxis, served } from '../spread.ts'
import { EMPTY, framed, legend, widthBeside, wrapped, type Cell, type Line, type Sheet } from './frame.ts'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'

export function distributionLines(picture: DistributionPicture, sheet: Sheet): Line[] {
  const axis = distributionAxis(picture)
  const labels = Array.from({ length: sheet.rows + 1 }, (_, row) => shareLabel(row, sheet.rows))
  const width = widthBeside(labels, sheet)
  const grid: Cell[][] = labels.map(() => Array.from({ length: width }, () => EMPTY))
  for (const [index, one] of picture.series.entries()) plot(grid, one, { axis, letter: letterOf(index) })
  return [
    ...wrapped(`${picture.title}: share served by a time`, sheet, 'title'),
    ...legend(
      picture.series.map((one, index) => ({
        text: letterOf(index),
        ink: inkOf(index),
        name: `${one.name}: ${served(one)}`,
      })),
      sheet,
    ),
    ...framed({ rows: grid, labels, axis }, sheet),
  ]
}

function plot(grid: Cell[][], one: DistributionSeries, { axis, letter }: { axis: Axis; letter: string }): void {
  const [rows, width] = [grid.length - 1, grid[0]!.length]
  // Each column shows the share at its right edge; a leap is drawn upright.
  const places = one.points.map(({ atMs, share }) => ({ atMs: axis.place(atMs), share }))
  let before = rows
  for (let column = 0; column < width; column++) {
    const row = rows - Math.round(rows * shareAt(places, (column + 1) / width))
    for (let at = Math.min(row, Math.max(row, before - 1)); at <= Math.max(row, before - 1); at++)
      mark(grid[at]!, column, letter)
    before = row
  }
}

function mark(row: Cell[], column: number, letter: string): void {
  const there = row[column]!.text
  const text = there === ' ' || there === letter ? letter : '*'
  row[column] = { text, ink: text === '*' ? 'both' : inkOf(LETTERS.indexOf(letter)) }
}

function letterOf(index: number): string {
  return LETTERS[index % LETTERS.length]!
}

function inkOf(index: number): 'one' | 'other' {
  return index % 2 === 0 ? 'one' : 'other'
}

function shareLabel(row: number, rows: number): string {
  const isNamed = (4 * row) % rows === 0 || row === rows
  return isNamed ? sayShare(1 - row / rows) : ''
}
