/** Why a picture cannot be drawn, as a sentence to be shown in its place: half a picture would be believed. */
import { MAX_DEPTH, type Picture, type Tier } from './picture.ts'

export function problemOf(picture: Picture): string | undefined {
  const said = sentenceFor(picture)
  return said === undefined ? undefined : `Nothing to draw: ${said}.`
}

function sentenceFor(picture: Picture): string | undefined {
  switch (picture.kind) {
    case 'arrivals':
      return (
        unlessCounts(
          picture.series.flatMap(({ first, retries, hedges = [] }) => [first, retries, hedges]),
          picture.bucketMs,
        ) ??
        unlessTimes([
          picture.capacityPerSecond ?? 0,
          ...(picture.spans ?? []).flatMap(({ fromMs, untilMs }) => [fromMs, untilMs]),
        ])
      )
    case 'deliveries': {
      const { waiting, answered, failed, bucketMs, capacityPerSecond = 0, spans = [] } = picture
      return (
        unlessCounts([waiting, answered, failed], bucketMs) ??
        unlessTimes([capacityPerSecond, ...spans.flatMap(({ fromMs, untilMs }) => [fromMs, untilMs])])
      )
    }
    case 'attempt-heatmap':
      return unlessCounts(picture.rows, picture.bucketMs)
    case 'cdf': {
      const points = picture.series.flatMap(({ points }) => points)
      if (points.some(({ share }) => !(share >= 0 && share <= 1))) return 'a share is not between 0 and 1'
      if (picture.series.some(({ points }) => !isGrowing(points))) return 'the shares do not grow with time'
      return unlessSome(points) ?? unlessTimes(points.map(({ atMs }) => atMs))
    }
    case 'delay-bands': {
      const times = picture.bands.flatMap(({ p5Ms, p25Ms, p50Ms, p75Ms, p95Ms }) => [p5Ms, p25Ms, p50Ms, p75Ms, p95Ms])
      return (
        (picture.bands.length === 0 ? 'there is only one attempt' : undefined) ??
        unlessTimes([...times, picture.deadlineMs ?? 0, ...(picture.seen ?? []).map(({ atMs }) => atMs)])
      )
    }
    case 'backoff-ruler': {
      const { plan, attempts, holds = [], nowMs = 0, deadlineMs = 0 } = picture
      const times = [
        ...plan.flatMap(({ earliestMs, latestMs }) => [earliestMs, latestMs]),
        ...attempts.map(({ atMs }) => atMs),
        ...holds.flatMap(({ fromMs, untilMs }) => [fromMs, untilMs]),
      ]
      return unlessSome(times) ?? unlessTimes([...times, nowMs, deadlineMs])
    }
    case 'tier-tree':
      return unlessTree(picture.root, 0)
  }
}

function unlessCounts(rows: readonly (readonly number[])[], bucketMs: number): string | undefined {
  if (!(isAmount(bucketMs) && bucketMs >= 0.001)) return 'the length of a bucket is no time'
  if (rows.some(row => row.some(count => !isAmount(count)))) return `a count ${OUT_OF_REACH}`
  return unlessSome(rows.flat())
}

function unlessSome(values: readonly unknown[]): string | undefined {
  return values.length === 0 ? 'there are no data' : undefined
}

function unlessTimes(times: readonly number[]): string | undefined {
  return times.every(isAmount) ? undefined : `a value ${OUT_OF_REACH}`
}

function unlessTree(tier: Tier, depth: number): string | undefined {
  if (depth > MAX_DEPTH) return `there are more than ${MAX_DEPTH} tiers`
  if (!isAmount(tier.callsPerOperation)) return `a factor ${OUT_OF_REACH}`
  for (const below of tier.calls ?? []) {
    const problem = unlessTree(below, depth + 1)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** More than anybody counts, and few enough that sums stay finite. */
const LARGEST = 1e15
const OUT_OF_REACH = 'is not a number from 0 to 10^15'

function isAmount(value: number): boolean {
  return value >= 0 && value <= LARGEST
}

function isGrowing(points: readonly { readonly atMs: number; readonly share: number }[]): boolean {
  return points.every((point, index) => {
    const before = points[index - 1]
    return before === undefined || (before.atMs <= point.atMs && before.share <= point.share)
  })
}
