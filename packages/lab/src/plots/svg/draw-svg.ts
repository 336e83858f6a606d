import type { Picture } from '../picture.ts'
import { problemOf } from '../problem.ts'
import { arrivalsSvg } from './arrivals.ts'
import { deliveriesSvg } from './deliveries.ts'
import { delayBandsSvg } from './delay-bands.ts'
import { distributionSvg } from './distribution.ts'
import { text } from './element.ts'
import { figure, type SvgOptions } from './figure.ts'
import { heatmapSvg } from './heatmap.ts'
import { rulerSvg } from './ruler.ts'
import type { Sheet } from './sheet.ts'
import { treeSvg } from './tree.ts'

/** A picture as SVG: one element, no scripts, nothing to load; or a sentence that says why there is none. */
export function drawSvg(picture: Picture, { width = 720, theme = 'auto' }: SvgOptions = {}): string {
  const sheet: Sheet = { width: Math.max(320, Math.round(width)), theme }
  const problem = problemOf(picture)
  if (problem === undefined) return svgOf(picture, sheet)
  const sentence = text(problem, { x: 16, y: 56, class: 'plot-fill-quiet' })
  return figure({ ...sheet, title: picture.title, description: problem, height: 80, body: () => [sentence] })
}

function svgOf(picture: Picture, sheet: Sheet): string {
  switch (picture.kind) {
    case 'arrivals':
      return arrivalsSvg(picture, sheet)
    case 'deliveries':
      return deliveriesSvg(picture, sheet)
    case 'cdf':
      return distributionSvg(picture, sheet)
    case 'delay-bands':
      return delayBandsSvg(picture, sheet)
    case 'backoff-ruler':
      return rulerSvg(picture, sheet)
    case 'attempt-heatmap':
      return heatmapSvg(picture, sheet)
    case 'tier-tree':
      return treeSvg(picture, sheet)
  }
}
