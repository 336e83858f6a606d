/** Small pictures for the cells of a table; the number stands beside them. */
import { clipped } from './label.ts'

export interface SparkOptions {
  readonly columns: number
  readonly ascii?: boolean
  /** The value of a full cell; without one the largest. One for all rows makes them comparable. */
  readonly max?: number
  /** Equal factors become equal steps: small values stay visible beside a large one. */
  readonly scale?: 'linear' | 'log'
}

const LEVELS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
const ASCII_LEVELS = ['_', '.', ':', '-', '=', '+', '*', '#']

/** One line, one cell for each value or, where there are more, for the mean of neighbours. A space is no value at all. */
export function sparkline(values: readonly number[], { columns, ascii = false, max, scale }: SparkOptions): string {
  const merged = Math.max(1, Math.ceil(values.length / columns))
  const means = Array.from({ length: Math.ceil(values.length / merged) }, (_, index) => {
    const part = values.slice(index * merged, (index + 1) * merged)
    return part.reduce((sum, value) => sum + value, 0) / part.length
  })
  const top = max ?? means.reduce((most, value) => (Number.isFinite(value) ? Math.max(most, value) : most), 0)
  const bend = (value: number): number => (scale === 'log' ? Math.log1p(value) : value)
  const levels = ascii ? ASCII_LEVELS : LEVELS
  const cell = (value: number): string => {
    if (!Number.isFinite(value)) return ' '
    const level = top > 0 ? Math.round((bend(Math.max(0, value)) / bend(top)) * (levels.length - 1)) : 0
    return levels[Math.min(levels.length - 1, level)]!
  }
  return means.map(cell).join('')
}

/** A bar of at most so many columns, for one of several values; at least a trace of what is more than nothing. */
export function bar(
  value: number,
  { columns, max, ascii = false }: { columns: number; max: number; ascii?: boolean },
): string {
  if (!(value > 0 && max > 0)) return ''
  const eighths = Math.max(1, Math.round((Math.min(value, max) / max) * columns * 8))
  if (ascii) return '#'.repeat(Math.max(1, Math.round(eighths / 8)))
  const rest = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths % 8]!
  return clipped('█'.repeat(Math.floor(eighths / 8)) + rest, columns, '')
}
