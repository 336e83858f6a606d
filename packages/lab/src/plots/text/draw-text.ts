import type { Picture } from '../picture.ts'
import { problemOf } from '../problem.ts'
import { arrivalsLines } from './arrivals.ts'
import { deliveriesLines } from './deliveries.ts'
import { delayBandsLines } from './delay-bands.ts'
import { distributionLines } from './distribution.ts'
import { wrapped, written, type Line, type Sheet, type TextOptions } from './frame.ts'
import { ASCII, BLOCKS } from './glyphs.ts'
import { heatmapLines } from './heatmap.ts'
import { rulerLines } from './ruler.ts'
import { treeLines } from './tree.ts'

/** A picture for a terminal: lines that end with a line feed, or a sentence that says why there is none. */
export function drawText(
  picture: Picture,
  { columns = 80, rows = 12, ascii = false, paint }: TextOptions = {},
): string {
  const sheet: Sheet = { glyphs: ascii ? ASCII : BLOCKS, columns: Math.max(40, columns), rows: Math.max(4, rows) }
  const problem = problemOf(picture)
  if (problem !== undefined)
    return written([...wrapped(picture.title, sheet, 'title'), ...wrapped(problem, sheet)], paint)
  return written(linesOf(picture, sheet), paint)
}

function linesOf(picture: Picture, sheet: Sheet): Line[] {
  switch (picture.kind) {
    case 'arrivals':
      return arrivalsLines(picture, sheet)
    case 'deliveries':
      return deliveriesLines(picture, sheet)
    case 'cdf':
      return distributionLines(picture, sheet)
    case 'delay-bands':
      return delayBandsLines(picture, sheet)
    case 'backoff-ruler':
      return rulerLines(picture, sheet)
    case 'attempt-heatmap':
      return heatmapLines(picture, sheet)
    case 'tier-tree':
      return treeLines(picture, sheet)
  }
}
