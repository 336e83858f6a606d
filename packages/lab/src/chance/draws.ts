import type { Distribution, HistogramBucket, SurvivalPoint } from '../scenario/distribution.ts'
import type { Die } from './streams.ts'

/** One duration after another. */
export type Draw = () => number

/** The draws of a distribution. Constant ones take nothing from the die. */
export function drawsOf(distribution: Distribution, die: Die): Draw {
  if (typeof distribution === 'number') return () => distribution
  switch (distribution.kind) {
    case 'exponential': {
      const { meanMs } = distribution
      return () => exponential(meanMs, die())
    }
    case 'uniform': {
      const { fromMs, toMs } = distribution
      return () => fromMs + (toMs - fromMs) * die()
    }
    case 'normal': {
      const { meanMs, deviationMs } = distribution
      return () => Math.abs(meanMs + deviationMs * standardNormal(die))
    }
    case 'log-normal': {
      const middle = Math.log(distribution.medianMs)
      const deviation = (Math.log(distribution.p99Ms) - middle) / NORMAL_P99
      return () => Math.exp(middle + deviation * standardNormal(die))
    }
    case 'bimodal': {
      const { slowShare } = distribution
      const slow = drawsOf(distribution.slow, die)
      const fast = drawsOf(distribution.fast, die)
      return () => (die() < slowShare ? slow() : fast())
    }
    case 'histogram': {
      const steps = stepsOf(distribution.buckets)
      return () => fromSteps(steps, die())
    }
    case 'survival': {
      const { points } = distribution
      return () => survivalQuantileMs(points, 1 - die())
    }
  }
}

/** The mean, for capacity and for what is printed beside a run; undefined where it has no simple form. */
export function meanOf(distribution: Distribution): number | undefined {
  if (typeof distribution === 'number') return distribution
  switch (distribution.kind) {
    case 'exponential':
      return distribution.meanMs
    case 'uniform':
      return (distribution.fromMs + distribution.toMs) / 2
    case 'normal':
      // Folding matters only where the deviation is no small part of the mean.
      return distribution.deviationMs * 4 < distribution.meanMs ? distribution.meanMs : undefined
    case 'log-normal': {
      const { medianMs, p99Ms } = distribution
      return medianMs * Math.exp((Math.log(p99Ms / medianMs) / NORMAL_P99) ** 2 / 2)
    }
    case 'bimodal': {
      const [slow, fast] = [meanOf(distribution.slow), meanOf(distribution.fast)]
      if (slow === undefined || fast === undefined) return undefined
      return distribution.slowShare * slow + (1 - distribution.slowShare) * fast
    }
    case 'histogram':
      return meanOfSteps(stepsOf(distribution.buckets))
    case 'survival':
      return undefined
  }
}

/** The duration that `longerShare` of all draws exceed. Before the first point nothing is shorter than it. */
export function survivalQuantileMs(points: readonly SurvivalPoint[], longerShare: number): number {
  let place = 1
  while (place < points.length - 1 && points[place]!.longerShare > longerShare) place++
  const [from, to] = [points[place - 1]!, points[place]!]
  if (longerShare >= from.longerShare) return from.ms
  const slope = Math.log(to.ms / from.ms) / Math.log(to.longerShare / from.longerShare)
  return from.ms * (longerShare / from.longerShare) ** slope
}

/** The share of all draws that exceed a duration. */
export function longerShareOf(points: readonly SurvivalPoint[], ms: number): number {
  if (ms <= points[0]!.ms) return points[0]!.longerShare
  let place = 1
  while (place < points.length - 1 && points[place]!.ms < ms) place++
  const [from, to] = [points[place - 1]!, points[place]!]
  const slope = Math.log(to.longerShare / from.longerShare) / Math.log(to.ms / from.ms)
  return from.longerShare * (ms / from.ms) ** slope
}

export function exponential(mean: number, roll: number): number {
  return -mean * Math.log(1 - roll)
}

/** The standard deviations above the mean that one normal draw in a hundred exceeds. */
const NORMAL_P99 = 2.3263478740408408

/** Box and Muller, 1958; the second of each pair is let go, so that a draw takes always two rolls. */
function standardNormal(die: Die): number {
  return Math.sqrt(-2 * Math.log(1 - die())) * Math.cos(2 * Math.PI * die())
}

interface Step {
  readonly fromMs: number
  readonly toMs: number
  /** The share of all draws that lie in or before it. */
  readonly upToShare: number
  readonly share: number
}

function stepsOf(buckets: readonly HistogramBucket[]): readonly Step[] {
  const sum = buckets.reduce((total, { count }) => total + count, 0)
  let [fromMs, upToShare] = [0, 0]
  return buckets.map(({ upToMs, count }) => {
    const step = { fromMs, toMs: upToMs, upToShare: (upToShare += count / sum), share: count / sum }
    fromMs = upToMs
    return step
  })
}

function fromSteps(steps: readonly Step[], roll: number): number {
  const { fromMs, toMs, upToShare, share } = steps.find(step => roll < step.upToShare) ?? steps.at(-1)!
  return toMs - (share === 0 ? 0 : (Math.max(0, upToShare - roll) / share) * (toMs - fromMs))
}

function meanOfSteps(steps: readonly Step[]): number {
  return steps.reduce((mean, { fromMs, toMs, share }) => mean + (share * (fromMs + toMs)) / 2, 0)
}
