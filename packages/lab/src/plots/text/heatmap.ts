/** Calls by time and attempt, the darker the more. */
import { timeAxis } from '../axis.ts'
import { heatOf } from '../heat.ts'
import { sayMs, sayRate } from '../format.ts'
import type { AttemptHeatmap } from '../picture.ts'
import { EMPTY, framed, legend, widthBeside, wrapped, type Cell, type Line, type Sheet } from './frame.ts'

export function heatmapLines(picture: AttemptHeatmap, sheet: Sheet): Line[] {
  const { glyphs } = sheet
  const labels = picture.rows.map((_, index) => `attempt ${index + 1}`).toReversed()
  const width = widthBeside(labels, sheet)
  const heat = heatOf(picture, width)
  const times = Math.max(1, Math.floor(width / heat.columns))
  const shade = (perSecond: number): Cell => {
    // Some is never drawn as none.
    const level = Math.ceil((perSecond / heat.peakPerSecond) * glyphs.shades.length)
    return perSecond > 0 ? { text: glyphs.shades[level - 1]!, ink: 'retries' } : EMPTY
  }
  const rows = heat.rows
    .map(row => row.flatMap(value => Array.from({ length: times }, () => shade(value))))
    .toReversed()
  const entries = glyphs.shades.map((text, index) => ({
    text,
    ink: 'retries' as const,
    name: `up to ${sayRate((heat.peakPerSecond * (index + 1)) / glyphs.shades.length)}`,
  }))
  return [
    ...wrapped(`${picture.title}, calls/s in columns of ${sayMs(heat.columnMs)}`, sheet, 'title'),
    ...legend(entries, sheet),
    ...framed({ rows, labels, axis: timeAxis(heat.endMs, 7) }, sheet),
  ]
}
