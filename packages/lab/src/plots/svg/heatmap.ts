/** Calls by time and attempt in one hue, the stronger the more; numbers on hover. */
import { timeAxis } from '../axis.ts'
import { sayMs, sayRate } from '../format.ts'
import { heatOf, type Heat } from '../heat.ts'
import type { AttemptHeatmap } from '../picture.ts'
import { element, hint, text } from './element.ts'
import { axisBelow, boxKey, figure, keys, type Box } from './figure.ts'
import type { Sheet } from './sheet.ts'

const ROW = 24
const MOST_COLUMNS = 120

export function heatmapSvg(picture: AttemptHeatmap, { width, theme }: Sheet): string {
  const heat = heatOf(picture, MOST_COLUMNS)
  const legend = keys(
    [0.25, 0.5, 1].map(share => ({ name: sayRate(share * heat.peakPerSecond), mark: boxKey(looks(share)) })),
    width,
  )
  const box: Box = {
    left: 88,
    right: width - 24,
    top: legend.bottom + 8,
    bottom: legend.bottom + 8 + ROW * picture.rows.length,
  }
  const cellWidth = (box.right - box.left) / heat.columns
  return figure({
    title: picture.title,
    description: describe(heat),
    width,
    height: box.bottom + 48,
    theme,
    body: () => [
      legend.markup,
      axisBelow(timeAxis(heat.endMs, width / 90), box, `time, in steps of ${sayMs(heat.columnMs)}`),
      ...heat.rows.map((row, index) => {
        const y = box.bottom - ROW * (index + 1)
        const name = text(`attempt ${index + 1}`, {
          x: box.left - 10,
          y: y + 16,
          'text-anchor': 'end',
          class: 'plot-fill-ink',
        })
        const cells = row.map((perSecond, column) => {
          if (perSecond === 0) return ''
          const said = `attempt ${index + 1}, from ${sayMs(column * heat.columnMs)}: ${sayRate(perSecond)}`
          const shape = { x: box.left + column * cellWidth, y: y + 1, width: cellWidth, height: ROW - 2 }
          return element('rect', { ...shape, ...looks(perSecond / heat.peakPerSecond) }, hint(said))
        })
        return name + cells.join('')
      }),
    ],
  })
}

/** Some is never as pale as none. */
function looks(share: number): Readonly<Record<string, string>> {
  return { class: 'plot-fill-running', 'fill-opacity': (0.12 + 0.88 * share).toFixed(2) }
}

function describe({ rows, peakPerSecond, endMs }: Heat): string {
  const deepest = rows.findLastIndex(row => row.some(rate => rate > 0)) + 1
  return `Calls per second by attempt over ${sayMs(endMs)}: ${sayRate(peakPerSecond)} at the most, up to attempt ${deepest}.`
}
