/** Who calls whom from left to right, with the factor on every edge and the calls that arrive in every box. */
import { sayTimes } from '../format.ts'
import type { Tier, TierTree } from '../picture.ts'
import { element, escaped, pathThrough, text } from './element.ts'
import { figure, shortened, type Box } from './figure.ts'
import type { Sheet } from './sheet.ts'

const ROW = 64
const BOX_HEIGHT = 44
const MOST_BOX_WIDTH = 150
const LEAST_COLUMN = 120

export function treeSvg(picture: TierTree, sheet: Sheet): string {
  const placed = place(picture.root)
  const depth = Math.max(...placed.map(tier => tier.depth)) + 1
  // A deep tree makes a wide picture rather than boxes without room for names.
  const width = Math.max(sheet.width, 32 + depth * LEAST_COLUMN)
  const column = (width - 32) / depth
  const boxWidth = Math.min(MOST_BOX_WIDTH, column - 50)
  const boxOf = ({ depth, row }: Placed): Box => {
    const [left, top] = [16 + depth * column, 52 + row * ROW]
    return { left, top, right: left + boxWidth, bottom: top + BOX_HEIGHT }
  }
  const rows = Math.max(...placed.map(({ row }) => row)) + 1
  return figure({
    title: picture.title,
    description: `Calls that arrive for one operation. ${placed.map(say).join(' ')}`,
    width,
    height: 52 + rows * ROW,
    theme: sheet.theme,
    body: () => [
      ...placed.filter(tier => tier.caller !== undefined).map(tier => drawEdge(tier, boxOf(tier.caller!), boxOf(tier))),
      ...placed.map(tier => drawTier(tier, boxOf(tier))),
    ],
  })
}

interface Placed {
  readonly tier: Tier
  readonly depth: number
  /** Beside its first child; leaves one below the other. */
  readonly row: number
  readonly caller: Placed | undefined
}

function place(root: Tier): Placed[] {
  const placed: Placed[] = []
  let nextRow = 0
  const visit = (tier: Tier, depth: number, caller: Placed | undefined): void => {
    const here = { tier, depth, row: nextRow, caller }
    placed.push(here)
    for (const child of tier.calls ?? []) visit(child, depth + 1, here)
    if ((tier.calls ?? []).length === 0) nextRow++
  }
  visit(root, 0, undefined)
  return placed
}

function drawTier({ tier }: Placed, { left, top, right }: Box): string {
  const middle = (left + right) / 2
  return element(
    'g',
    {},
    element('title', {}, escaped(tier.name)),
    element('rect', {
      x: left,
      y: top,
      width: right - left,
      height: BOX_HEIGHT,
      rx: 6,
      'stroke-width': 1.5,
      class: 'plot-fill-page plot-line-quiet',
    }),
    text(shortened(tier.name, right - left - 8), {
      x: middle,
      y: top + 18,
      'text-anchor': 'middle',
      class: 'plot-fill-ink',
    }),
    text(sayTimes(tier.callsPerOperation), {
      x: middle,
      y: top + 36,
      'text-anchor': 'middle',
      'font-weight': '600',
      class: 'plot-fill-retrying',
    }),
  )
}

/** As thick as the factor, up to a point: the eye follows the storm. */
function drawEdge({ tier }: Placed, from: Box, to: Box): string {
  const [x1, y1, x2, y2] = [from.right, from.top + BOX_HEIGHT / 2, to.left, to.top + BOX_HEIGHT / 2]
  const turn = x1 + 12
  const thickness = Math.min(8, 1.5 + Math.log2(Math.max(1, tier.callsPerOperation)))
  const corners = [
    [x1, y1],
    [turn, y1],
    [turn, y2],
    [x2, y2],
  ] as const
  const label = tier.maxAttempts === undefined ? '' : `≤ ${tier.maxAttempts}`
  return (
    element('path', { d: pathThrough(corners), fill: 'none', 'stroke-width': thickness, class: 'plot-line-quiet' }) +
    text(label, { x: (turn + x2) / 2 + 2, y: y2 - 8, 'text-anchor': 'middle', class: 'plot-fill-ink' })
  )
}

function say({ tier, caller }: Placed): string {
  const attempts = tier.maxAttempts === undefined ? '' : ` in up to ${tier.maxAttempts} attempts each`
  const by = caller === undefined ? '' : ` from ${caller.tier.name}${attempts}`
  return `${tier.name}: ${sayTimes(tier.callsPerOperation)}${by}.`
}
