/** What a server says about further calls: none at all, or none before so many milliseconds have passed. */
export type Pushback = { readonly kind: 'stop' } | { readonly kind: 'wait'; readonly ms: number }

const LARGEST_INT32 = 2 ** 31 - 1

/**
 * The value of `grpc-retry-pushback-ms` (gRFC A6), for retries and hedges alike; undefined when there is none. It is a
 * signed 32-bit number in plain digits, without leading zeros. A negative one means stop, and so does whatever cannot
 * be read: a server that tried to hold us back is not answered with a call at once.
 */
export function readPushback(value: string | undefined): Pushback | undefined {
  if (value === undefined) return undefined
  const ms = /^(0|[1-9]\d*)$/.test(value) ? Number(value) : Infinity
  return ms <= LARGEST_INT32 ? { kind: 'wait', ms } : { kind: 'stop' }
}
