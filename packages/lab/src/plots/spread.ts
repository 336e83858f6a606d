/** Axes for what spreads from milliseconds to days, and what is said beside them: the same in text and in SVG. */
import { logTimeAxis, timeAxis, type Axis } from './axis.ts'
import { sayShare } from './format.ts'
import type { BackoffRuler, DelayBands, DistributionPicture, DistributionSeries } from './picture.ts'

export function bandsAxis({ bands, seen = [], deadlineMs = 0 }: DelayBands): Axis {
  return around([...bands.flatMap(({ p5Ms, p95Ms }) => [p5Ms, p95Ms]), ...seen.map(({ atMs }) => atMs), deadlineMs])
}

export function rulerAxis({ plan, attempts, holds = [], nowMs = 0, deadlineMs = 0 }: BackoffRuler): Axis {
  return around([
    ...plan.flatMap(({ earliestMs, latestMs }) => [earliestMs, latestMs]),
    ...attempts.map(({ atMs }) => atMs),
    ...holds.flatMap(({ fromMs, untilMs }) => [fromMs, untilMs]),
    nowMs,
    deadlineMs,
  ])
}

export function distributionAxis({ series, scale }: DistributionPicture): Axis {
  const times = series.flatMap(({ points }) => points.map(({ atMs }) => atMs))
  const endMs = times.reduce((latest, atMs) => Math.max(latest, atMs), 1)
  const firstMs = times.reduce((first, atMs) => (atMs > 0 ? Math.min(first, atMs) : first), endMs)
  return scale === 'log' ? logTimeAxis(firstMs, endMs) : timeAxis(endMs, 7)
}

/** What is served in the end, and what never. */
export function served({ points }: DistributionSeries): string {
  const share = points.at(-1)?.share ?? 0
  return share === 1 ? 'all served' : `${sayShare(share)} served, ${sayShare(1 - share)} never`
}

/** Zero, where every operation begins, has no logarithm: it lies at the left edge. */
function around(times: readonly number[]): Axis {
  const later = times.filter(atMs => atMs >= 1)
  const latestMs = later.reduce((latest, atMs) => Math.max(latest, atMs), 1)
  return logTimeAxis(
    later.reduce((first, atMs) => Math.min(first, atMs), latestMs),
    latestMs,
  )
}
