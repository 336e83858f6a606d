import { headerOf, readDecimal, readSeconds, retryAfterOf, type HeaderSource } from './retry-after.ts'

/**
 * The wait that a response asks for in any of the spellings that services use: `Retry-After` and its millisecond
 * relatives first, then the quota fields that it outranks.
 */
export function askedWaitOf(headers: HeaderSource, now: number): number | undefined {
  return (
    readDecimal(headerOf(headers, 'x-ms-retry-after-ms')) ??
    readDecimal(headerOf(headers, 'x-amz-retry-after')) ??
    retryAfterOf(headers, now) ??
    exhaustedQuota(headerOf(headers, 'ratelimit')) ??
    olderQuota(headers, 'ratelimit', now) ??
    olderQuota(headers, 'x-ratelimit', now)
  )
}

/** One field for each number, before there was a standard. A quota of which something remains asks for no wait. */
function olderQuota(headers: HeaderSource, prefix: string, now: number): number | undefined {
  if (Number(headerOf(headers, `${prefix}-remaining`)) > 0) return undefined
  const wait = readSeconds(headerOf(headers, `${prefix}-reset-after`))
  return wait ?? resetWait(readSeconds(headerOf(headers, `${prefix}-reset`)), now)
}

/** `RateLimit: "default";r=0;t=30` names a wait only when nothing remains. */
function exhaustedQuota(value: string): number | undefined {
  const parameters = value.split(/[;,]/).map(part => part.trim())
  const reset = parameters.find(part => part.startsWith('t='))
  return parameters.includes('r=0') && reset !== undefined ? readSeconds(reset.slice(2)) : undefined
}

/** Some count seconds from now, some from 1970: no wait is thirty years long, and no epoch that short. */
function resetWait(ms: number | undefined, now: number): number | undefined {
  return ms === undefined || ms < 1_000_000_000_000 ? ms : Math.max(0, ms - now)
}
