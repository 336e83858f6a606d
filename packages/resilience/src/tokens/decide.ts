/** A bucket that fills at a constant rate: for limits on calls, and for budgets of retries. Changed in place. */
export interface Tokens {
  tokens: number
  /** When they were counted. */
  countedAt: number
}

export interface TokenRate {
  readonly perSecond: number
  /** No more are kept, however long nobody came. */
  readonly burst: number
}

/** Adds what has come since the last count. A clock that steps back brings nothing, and takes nothing away. */
export function refill({ perSecond, burst }: TokenRate, bucket: Tokens, now: number): void {
  const elapsedMs = Math.max(0, now - bucket.countedAt)
  bucket.tokens = Math.min(burst, bucket.tokens + (elapsedMs / 1000) * perSecond)
  bucket.countedAt += elapsedMs
}

/** A token that was taken was not used. There are then no more than if it had never been taken: a full bucket stays full. */
export function putBack(rate: TokenRate, bucket: Tokens, now: number): void {
  refill(rate, bucket, now)
  bucket.tokens = Math.min(rate.burst, bucket.tokens + 1)
}
