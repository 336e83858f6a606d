/** Bars of text, an eighth of a line at a time. */
const EIGHTHS = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const

export interface Height {
  /** What reaches the top. */
  readonly most: number
  readonly lines: number
}

/** The lines of a bar chart, the topmost first, one character for each value. What is not nothing is seen. */
export function bars(values: readonly number[], { most, lines }: Height): string[] {
  const heights = values.map(value => (value > 0 ? Math.max(1, Math.round((value / most) * lines * 8)) : 0))
  return Array.from({ length: lines }, (_, fromTop) => {
    const below = (lines - 1 - fromTop) * 8
    return heights.map(height => EIGHTHS[Math.min(8, Math.max(0, height - below))]).join('')
  })
}

/** A line with words at given places; a word that would run into the one before it is left out. */
export function marks(places: readonly (readonly [column: number, word: string])[]): string {
  return places.reduce((line, [column, word]) => (column < line.length ? line : line.padEnd(column) + word), '')
}
