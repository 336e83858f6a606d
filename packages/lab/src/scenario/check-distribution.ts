import type { Problem } from '@secondwind/resilience'
import { byKind, duration, listOf, numberBetween, record, type Shape } from './shape.ts'

const positive = duration(1e-9)

/** A mixture of so many mixtures is a histogram. */
const MOST_NESTED = 10

/** A number of milliseconds, or an object with its kind. */
export const checkDistribution: Shape = (value, at) => checkNested(value, at, 0)

function checkNested(value: unknown, at: string, depth: number): Problem[] {
  if (typeof value === 'number') return duration()(value, at)
  if (depth > MOST_NESTED) return [{ at, is: 'bimodal', say: `must not lie deeper than ${MOST_NESTED} others` }]
  const problems = shapeOf((inner, below) => checkNested(inner, below, depth + 1))(value, at)
  return problems.length > 0 ? problems : checkOrder(value as { readonly kind: string }, at)
}

function shapeOf(nested: Shape): Shape {
  return byKind({
    ...FLAT,
    bimodal: [{ fast: nested, slow: nested, slowShare: numberBetween(0, 1) }],
  })
}

const FLAT: Parameters<typeof byKind>[0] = {
  exponential: [{ meanMs: duration() }],
  uniform: [{ fromMs: duration(), toMs: duration() }],
  normal: [{ meanMs: duration(), deviationMs: duration() }],
  'log-normal': [{ medianMs: positive, p99Ms: positive }],
  histogram: [{ buckets: listOf(record({ upToMs: duration(), count: numberBetween(0, 1e15) }), 100_000) }],
  survival: [{ points: listOf(record({ ms: positive, longerShare: numberBetween(1e-300, 1) }), 10_000) }],
}

/** What each number alone cannot see. */
function checkOrder(value: { readonly kind: string }, at: string): Problem[] {
  const wrong = (field: string, say: string): Problem[] => [{ at: `${at}.${field}`, is: field, say }]
  switch (value.kind) {
    case 'uniform': {
      const { fromMs, toMs } = value as unknown as { fromMs: number; toMs: number }
      return toMs < fromMs ? wrong('toMs', `must not be less than fromMs, ${fromMs}`) : []
    }
    case 'log-normal': {
      const { medianMs, p99Ms } = value as unknown as { medianMs: number; p99Ms: number }
      return p99Ms < medianMs ? wrong('p99Ms', `must not be less than medianMs, ${medianMs}`) : []
    }
    case 'histogram': {
      const { buckets } = value as unknown as { buckets: { upToMs: number; count: number }[] }
      if (buckets.some(({ upToMs }, place) => upToMs < (buckets[place - 1]?.upToMs ?? 0)))
        return wrong('buckets', 'must be in the order of upToMs')
      return buckets.every(({ count }) => count === 0) ? wrong('buckets', 'must not all be empty') : []
    }
    case 'survival': {
      const { points } = value as unknown as { points: { ms: number; longerShare: number }[] }
      const isFalling = points.every(
        ({ ms, longerShare }, place) =>
          place === 0 || (ms > points[place - 1]!.ms && longerShare < points[place - 1]!.longerShare),
      )
      return isFalling && points.length > 1
        ? []
        : wrong('points', 'must be two or more, later and rarer one after another')
    }
    default:
      return []
  }
}
