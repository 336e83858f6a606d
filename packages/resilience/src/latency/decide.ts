/**
 * How long the recent successes took, for whoever must know a percentile at every call: when a hedge begins, when an
 * attempt is given up, how long a call is expected to take. One memory serves all of them.
 *
 * Of each duration only its bucket is kept, and buckets grow by 6 %: a percentile is right to within 3 %, which is less
 * than it moves by itself. What took 1 ms or less is read as 1 ms, and what took longer than 44 minutes as 46. A
 * thousand durations are a kilobyte, and their counts another; both are made at the first success, so that a key that
 * has none costs nothing.
 *
 * The memory is changed in place: it is written at every call.
 */
export interface Latencies {
  /** So many of the latest are kept. */
  readonly sampleCalls: number
  /** So many are known by now. */
  known: number
  /** The bucket of each, in a ring. */
  latest: Uint8Array
  oldest: number
  /** How many are in each bucket, and in each group of sixteen: no percentile is farther than 32 steps. */
  inBucket: Uint32Array
  inGroup: Uint32Array
}

const BUCKETS = 256
const GROUP = 16
const GROWTH = 1.06

const NOTHING = /* @__PURE__ */ new Uint8Array()
const NO_COUNTS = /* @__PURE__ */ new Uint32Array()

export function noLatencies(sampleCalls: number): Latencies {
  return { sampleCalls, known: 0, latest: NOTHING, oldest: 0, inBucket: NO_COUNTS, inGroup: NO_COUNTS }
}

/** A call succeeded; what failed says nothing about how long an answer takes. */
export function recordLatency(latencies: Latencies, durationMs: number): void {
  const { sampleCalls, known, oldest } = latencies
  if (known === 0) {
    latencies.latest = new Uint8Array(sampleCalls)
    latencies.inBucket = new Uint32Array(BUCKETS)
    latencies.inGroup = new Uint32Array(BUCKETS / GROUP)
  }
  if (known === sampleCalls) count(latencies, latencies.latest[oldest]!, -1)
  else latencies.known++
  const bucket = bucketOf(durationMs)
  count(latencies, bucket, 1)
  latencies.latest[oldest] = bucket
  latencies.oldest = (oldest + 1) % sampleCalls
}

/**
 * The duration that so many in a hundred of the known ones do not exceed (nearest rank); undefined while fewer than
 * `minSamples` are known.
 */
export function percentileMs(latencies: Latencies, percentile: number, minSamples = 1): number | undefined {
  const { known, inBucket, inGroup } = latencies
  if (known < minSamples) return undefined
  let rank = Math.ceil((percentile * known) / 100 - EPSILON)
  let group = 0
  for (; rank > inGroup[group]!; group++) rank -= inGroup[group]!
  let bucket = group * GROUP
  for (; rank > inBucket[bucket]!; bucket++) rank -= inBucket[bucket]!
  return bucket === 0 ? 1 : GROWTH ** (bucket - 0.5)
}

/** Fewer are no custom: the first call of all pays for name, connection and cold caches. */
const FEWEST_FOR_CUSTOM = 5

/** How long the next call will probably take: the median, which one slow call does not move; 0 when unknown. */
export function expectedCallMs(latencies: Latencies): number {
  return percentileMs(latencies, 50, FEWEST_FOR_CUSTOM) ?? 0
}

/** 99.9 hundredths of a thousand are a little more than 999. */
const EPSILON = 1e-9

/** A clock that stepped back, or no number at all, is read as the shortest. */
function bucketOf(durationMs: number): number {
  return durationMs > 1 ? Math.min(BUCKETS - 1, Math.ceil(Math.log(durationMs) / Math.log(GROWTH))) : 0
}

function count({ inBucket, inGroup }: Latencies, bucket: number, change: 1 | -1): void {
  inBucket[bucket]! += change
  inGroup[Math.floor(bucket / GROUP)]! += change
}
