/** Small pictures of every kind, any picture at all, and names that mean harm. */
import fc from 'fast-check'
import type { ArrivalsPicture, DelayBand, DeliveriesPicture, Picture, Tier } from './picture.ts'

export const STORM: ArrivalsPicture = {
  kind: 'arrivals',
  title: 'Arrivals',
  bucketMs: 1_000,
  capacityPerSecond: 400,
  series: [
    {
      name: 'five attempts',
      first: [100, 100, 100, 100, 100, 100, 100, 100],
      retries: [0, 0, 200, 400, 400, 250, 0, 0],
    },
  ],
  spans: [{ name: 'outage', fromMs: 2_000, untilMs: 6_000 }],
}

export const COMPARED: ArrivalsPicture = {
  ...STORM,
  series: [...STORM.series, { name: 'budget', first: STORM.series[0]!.first, retries: [0, 0, 10, 10, 10, 10, 0, 200] }],
}

export const DELIVERED: DeliveriesPicture = {
  kind: 'deliveries',
  title: 'Deliveries',
  bucketMs: 1_000,
  waiting: [0, 0, 50, 100, 150, 200, 40, 0],
  answered: [50, 50, 0, 0, 0, 0, 210, 90],
  failed: [0, 0, 40, 20, 1, 1, 0, 0],
  capacityPerSecond: 200,
  spans: [{ name: 'down', fromMs: 2_000, untilMs: 6_000 }],
}

/** One picture of each kind. */
export const PICTURES: readonly Picture[] = [
  STORM,
  COMPARED,
  DELIVERED,
  {
    kind: 'cdf',
    title: 'Served by a time',
    series: [
      { name: 'full', points: [50, 100, 200, 400].map((atMs, index) => ({ atMs, share: (index + 1) / 4 })) },
      { name: 'none', points: [50, 400].map((atMs, index) => ({ atMs, share: (index + 1) / 10 })) },
    ],
  },
  {
    kind: 'delay-bands',
    title: 'Default policy',
    deadlineMs: 2_000,
    seen: [{ attempt: 3, atMs: 400 }],
    bands: [
      { attempt: 2, p5Ms: 5, p25Ms: 25, p50Ms: 50, p75Ms: 75, p95Ms: 95 },
      { attempt: 3, p5Ms: 50, p25Ms: 100, p50Ms: 150, p75Ms: 200, p95Ms: 260 },
    ],
  },
  {
    kind: 'backoff-ruler',
    title: 'One operation',
    plan: [{ attempt: 2, earliestMs: 50, latestMs: 100 }],
    attempts: [
      { attempt: 1, atMs: 0, result: 'failed' },
      { attempt: 2, atMs: 600, result: 'succeeded' },
    ],
    holds: [{ name: 'breaker open', fromMs: 90, untilMs: 500 }],
    nowMs: 900,
    deadlineMs: 2_000,
  },
  {
    kind: 'attempt-heatmap',
    title: 'Calls by attempt',
    bucketMs: 500,
    rows: [
      [40, 40, 40, 40],
      [0, 1, 20, 30],
    ],
  },
  {
    kind: 'tier-tree',
    title: 'Tiers',
    root: {
      name: 'edge',
      callsPerOperation: 1,
      calls: [
        {
          name: 'api',
          maxAttempts: 3,
          callsPerOperation: 3,
          calls: [{ name: 'db', maxAttempts: 3, callsPerOperation: 9 }],
        },
        { name: 'cache', maxAttempts: 2, callsPerOperation: 2 },
      ],
    },
  },
]

/** Markup, escapes of terminals, letters from right to left, wide letters, half a pair, and very long. */
export const HOSTILE: readonly string[] = [
  '<script>alert(1)</script>',
  '"><svg onload=alert(1)>',
  "' onmouseover='alert(1)",
  '</style></title></desc><b>&amp;',
  ']]><!--',
  '\u001B[31mred\u001B[0m\u0007\r\n\tnext',
  '\u202Egnp.exe\u200B',
  '日本語の名前🔥🔥',
  'e\u0301\u0301\u0301\uD800',
  'long '.repeat(100),
  'l'.repeat(300),
  '',
]

const anyName = fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary', maxLength: 60 }))
const anyCount = fc.oneof({ weight: 4, arbitrary: fc.nat(2_000) }, fc.constantFrom(0, 1e-9, 0.5, 1e15))
const anyMs = fc.oneof({ weight: 4, arbitrary: fc.nat(100_000) }, fc.constantFrom(0, 0.25, 86_400_000, 1e15))
const anyResult = fc.constantFrom('failed' as const, 'succeeded' as const, 'running' as const)
const noAmount = fc.constantFrom(NaN, Infinity, -1)

/** Most can be drawn, some cannot; none may be drawn half. */
export const anyPicture: fc.Arbitrary<Picture> = fc.oneof(
  { weight: 3, arbitrary: picturesOf(anyCount, anyMs) },
  {
    weight: 1,
    arbitrary: picturesOf(
      fc.oneof({ weight: 20, arbitrary: anyCount }, noAmount),
      fc.oneof({ weight: 20, arbitrary: anyMs }, noAmount),
    ),
  },
)

function picturesOf(count: fc.Arbitrary<number>, ms: fc.Arbitrary<number>): fc.Arbitrary<Picture> {
  const counts = fc.array(count, { maxLength: 200 })
  const spans = fc.array(fc.record({ name: anyName, fromMs: ms, untilMs: ms }), { maxLength: 2 })
  const bucketMs = fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 60_000 }) }, ms)
  const series = fc.record({ name: anyName, first: counts, retries: counts, hedges: counts })
  return fc.oneof(
    fc.record(
      {
        kind: fc.constant('arrivals' as const),
        title: anyName,
        bucketMs,
        series: fc.array(series, { maxLength: 4 }),
        capacityPerSecond: count,
        spans,
      },
      { requiredKeys: ['kind', 'title', 'bucketMs', 'series'] },
    ),
    fc.record(
      {
        kind: fc.constant('deliveries' as const),
        title: anyName,
        bucketMs,
        waiting: counts,
        answered: counts,
        failed: counts,
        capacityPerSecond: count,
        spans,
      },
      { requiredKeys: ['kind', 'title', 'bucketMs', 'waiting', 'answered', 'failed'] },
    ),
    fc.record({
      kind: fc.constant('cdf' as const),
      title: anyName,
      series: fc.array(fc.record({ name: anyName, points: growingPoints(ms) }), { maxLength: 4 }),
      scale: fc.constantFrom('linear' as const, 'log' as const),
    }),
    fc.record({
      kind: fc.constant('delay-bands' as const),
      title: anyName,
      deadlineMs: ms,
      bands: fc.array(growingTimes(ms), { maxLength: 6 }).map(all => all.map(bandOf)),
      seen: fc.array(fc.record({ attempt: fc.nat(9), atMs: ms }), { maxLength: 4 }),
    }),
    fc.record({
      kind: fc.constant('backoff-ruler' as const),
      title: anyName,
      plan: fc.array(fc.record({ attempt: fc.nat(9), earliestMs: ms, latestMs: ms }), { maxLength: 4 }),
      attempts: fc.array(fc.record({ attempt: fc.nat(9), atMs: ms, result: anyResult }), { maxLength: 4 }),
      holds: spans,
      nowMs: ms,
    }),
    fc.record({
      kind: fc.constant('attempt-heatmap' as const),
      title: anyName,
      bucketMs,
      rows: fc.array(counts, { maxLength: 8 }),
    }),
    fc.record({ kind: fc.constant('tier-tree' as const), title: anyName, root: tiersOf(count, 3) }),
  )
}

function growingTimes(ms: fc.Arbitrary<number>): fc.Arbitrary<number[]> {
  return fc.array(ms, { minLength: 5, maxLength: 5 }).map(times => times.toSorted((left, right) => left - right))
}

function growingPoints(ms: fc.Arbitrary<number>): fc.Arbitrary<{ atMs: number; share: number }[]> {
  const anyShare = fc.double({ min: 0, max: 1, noNaN: true })
  return fc.array(fc.tuple(ms, anyShare), { maxLength: 30 }).map(pairs => {
    const shares = pairs.map(([, share]) => share).toSorted((left, right) => left - right)
    const times = pairs.map(([atMs]) => atMs).toSorted((left, right) => left - right)
    return times.map((atMs, index) => ({ atMs, share: shares[index]! }))
  })
}

function bandOf(times: readonly number[], index: number): DelayBand {
  const [p5Ms, p25Ms, p50Ms, p75Ms, p95Ms] = times
  return { attempt: index + 2, p5Ms: p5Ms!, p25Ms: p25Ms!, p50Ms: p50Ms!, p75Ms: p75Ms!, p95Ms: p95Ms! }
}

function tiersOf(count: fc.Arbitrary<number>, depth: number): fc.Arbitrary<Tier> {
  const calls = depth === 0 ? fc.constant([]) : fc.array(tiersOf(count, depth - 1), { maxLength: 3 })
  return fc.record({ name: anyName, callsPerOperation: count, maxAttempts: fc.nat(9), calls })
}
