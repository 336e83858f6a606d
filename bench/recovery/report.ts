import { sayFigure, type Measure, type Row, type Run } from '../../packages/service/src/recovery/row.test-kit.ts'
import { summarize } from '../statistics.ts'

/** One measure of a row over all of its rounds. */
export interface Reached {
  readonly row: string
  readonly measure: Measure
  /** The median; Infinity where half of the rounds never got there. */
  readonly figure: number
  /** Absent where a measure has no bar. */
  readonly isHeld?: boolean
}

export function reachedBy(row: Row, runs: readonly Run[]): Reached[] {
  return row.measures.map(measure => {
    const figure = summarize(runs.map(measure.of)).median
    return { row: row.name, measure, figure, ...(measure.must !== undefined && { isHeld: figure <= measure.must }) }
  })
}

const HEADING = ['row', 'figure', 'reached', 'must', 'aim', '']

export function tableOf(reached: readonly Reached[]): string {
  const lines = reached.map(({ row, measure, figure, isHeld }, index) => {
    const { say, must, aim } = measure
    const bar = (limit: number | undefined): string => (limit === undefined ? '' : `≤ ${sayFigure(measure, limit)}`)
    const verdict = isHeld === undefined ? '' : isHeld ? 'ok' : 'missed'
    const name = reached[index - 1]?.row === row ? '' : row
    return [name, say, sayFigure(measure, figure), bar(must), bar(aim), verdict]
  })
  const widths = HEADING.map((_, column) => Math.max(...[HEADING, ...lines].map(cells => cells[column]!.length)))
  return [HEADING, ...lines]
    .map(cells =>
      cells
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
