/**
 * A number in [0, 1), fast and not cryptographic: jitter spreads load, it keeps no secret. One stream serves the
 * whole process and is drawn from at each wait, so that no two operations share their numbers.
 */
export type Random = () => number

export const systemRandom: Random = Math.random

/** An idempotency key nobody else has: a UUID. Pages without TLS have no `randomUUID`, but they have random bytes. */
export function newIdempotencyKey(): string {
  return '10000000-1000-4000-8000-100000000000'.replace(/[018]/g, digit =>
    (Number(digit) ^ (crypto.getRandomValues(new Uint8Array(1))[0]! & (15 >> (Number(digit) / 4)))).toString(16),
  )
}
