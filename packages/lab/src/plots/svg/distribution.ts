/** Shares by time as steps, with what is never served named at the right edge. */
import { amountAxis } from '../axis.ts'
import { sayMs, sayShare } from '../format.ts'
import type { DistributionPicture, DistributionSeries } from '../picture.ts'
import { distributionAxis, served } from '../spread.ts'
import { element, hint, pathThrough, text } from './element.ts'
import { axisBelow, axisBeside, figure, keys, lineKey, type Box, type Key } from './figure.ts'
import type { Sheet } from './sheet.ts'
import { styleOf } from './theme.ts'

export function distributionSvg(picture: DistributionPicture, { width, theme }: Sheet): string {
  const x = distributionAxis(picture)
  const y = amountAxis(1, 4, sayShare)
  const entries = picture.series.map((one, index): Key => {
    const { colour, dashes } = styleOf(index)
    return {
      name: `${one.name}: ${served(one)}`,
      mark: lineKey({ class: `plot-line-${colour}`, 'stroke-dasharray': dashes }),
      series: index,
    }
  })
  const legend = keys(entries, width)
  const box: Box = { left: 64, right: width - 24, top: legend.bottom + 12, bottom: legend.bottom + 232 }
  const at = (atMs: number, share: number): [number, number] => [
    box.left + x.place(atMs) * (box.right - box.left),
    box.bottom - y.place(share) * (box.bottom - box.top),
  ]
  const named = namedAtTheirEnd(picture.series, share => at(x.max, share)[1])
  return figure({
    title: picture.title,
    description: `Share served by a time. ${picture.series.map(describe).join(' ')}`,
    width,
    height: box.bottom + 48,
    theme,
    live: box,
    body: () => [
      legend.markup,
      axisBeside(y, box),
      axisBelow(x, box, picture.scale === 'log' ? 'time until the answer, log' : 'time until the answer'),
      ...picture.series.map((one, index) => curve(one, index, { at, endMs: x.max, isNamed: named.has(index) })),
    ],
  })
}

type Place = (atMs: number, share: number) => [number, number]

/** Pixels from a curve to the upper edge of the label that stands on it. */
const LABEL_HEIGHT = 18

/** Curves with a label: something is never served, and no other curve ends where it would stand. The legend names all. */
function namedAtTheirEnd(series: readonly DistributionSeries[], yOf: (share: number) => number): ReadonlySet<number> {
  const shares = series.map(({ points }) => points.at(-1)?.share ?? 0)
  const ends = shares.map(yOf)
  return new Set(
    shares.flatMap((share, index) => {
      const isCrossed = ends.some((end, other) => {
        const above = ends[index]! - end
        // Of curves that end at one point the first has the label.
        return above === 0 ? other < index : above > 0 && above < LABEL_HEIGHT
      })
      return share >= 0.995 || isCrossed ? [] : [index]
    }),
  )
}

interface CurveSpace {
  readonly at: Place
  readonly endMs: number
  readonly isNamed: boolean
}

function curve(one: DistributionSeries, index: number, { at, endMs, isNamed }: CurveSpace): string {
  const { colour, dashes } = styleOf(index)
  let before = 0
  const corners = thinned(one.points, atMs => Math.round(at(atMs, 0)[0])).flatMap(({ atMs, share }) => {
    const step = [at(atMs, before), at(atMs, share)]
    before = share
    return step
  })
  const line = pathThrough([at(0, 0), ...corners, at(endMs, before)])
  const [x, y] = at(endMs, before)
  const never = text(`${sayShare(1 - before)} never`, {
    x: x - 6,
    y: y - 6,
    'text-anchor': 'end',
    class: `plot-fill-${colour}`,
  })
  return element(
    'g',
    { 'data-series': index },
    hint(`${one.name}: ${served(one)}`),
    element('path', {
      d: line,
      fill: 'none',
      'stroke-width': 2,
      'stroke-dasharray': dashes,
      class: `plot-line-${colour}`,
    }),
    isNamed ? never : '',
  )
}

/** The last point of each pixel: a hundred thousand would look the same and weigh megabytes. */
function thinned(points: DistributionSeries['points'], pixel: (atMs: number) => number): DistributionSeries['points'] {
  return points.filter(({ atMs }, index) => {
    const next = points[index + 1]
    return next === undefined || pixel(next.atMs) !== pixel(atMs)
  })
}

function describe(one: DistributionSeries): string {
  const half = one.points.find(({ share }) => share >= 0.5)
  return `${one.name}: ${served(one)}${half === undefined ? '' : `, half of all by ${sayMs(half.atMs)}`}.`
}
