/** Who calls whom, and how often for one operation. */
import { sayTimes } from '../format.ts'
import type { Tier, TierTree } from '../picture.ts'
import { wrapped, type Line, type Sheet } from './frame.ts'
import { clipped, padStartTo, plainLabel, widthOf } from './label.ts'

export function treeLines(picture: TierTree, sheet: Sheet): Line[] {
  return [
    ...wrapped(`${picture.title}: calls that arrive for one operation`, sheet, 'title'),
    ...branch(picture.root, { before: '', below: '' }, sheet),
  ]
}

function branch(tier: Tier, { before, below }: { before: string; below: string }, sheet: Sheet): Line[] {
  const { glyphs, columns } = sheet
  const times = plainLabel(sayTimes(tier.callsPerOperation), glyphs.isAscii)
  const edge = tier.maxAttempts === undefined ? '' : `up to ${tier.maxAttempts} ${glyphs.arrow} `
  const name = clipped(` ${before}${edge}${plainLabel(tier.name, glyphs.isAscii)}`, columns - 12, glyphs.ellipsis)
  const calls = tier.calls ?? []
  const children = calls.flatMap((child, index) => {
    const isLast = index === calls.length - 1
    const next = {
      before: `${below}${isLast ? glyphs.lastBranch : glyphs.branch} `,
      below: `${below}${isLast ? ' ' : glyphs.upright}  `,
    }
    return branch(child, next, sheet)
  })
  // Beside each other where the eye can still follow.
  const room = Math.min(columns, 60) - widthOf(name)
  return [
    [
      { text: name, ink: 'plain' },
      { text: padStartTo(times, Math.max(widthOf(times) + 1, room)), ink: 'retries' },
    ],
    ...children,
  ]
}
