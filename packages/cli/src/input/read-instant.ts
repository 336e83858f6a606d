import { sayInstant } from '../output/say-time.ts'
import { duration, type Reader } from './read-options.ts'

const LONGEST_MS = 10 * 365 * 86_400_000

/** With its zone: an instant that means another one at another desk is none. */
const ISO_INSTANT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/
const EPOCH_MS = /^\d{12,14}$/

/** `2h`, which is so long ago or ahead; an instant as ISO 8601 writes it; or milliseconds since the epoch. */
export function instant(now: number, direction: 'ago' | 'ahead'): Reader<number> {
  const distance = duration(0, LONGEST_MS)
  return given => {
    const typed = String(given)
    if (EPOCH_MS.test(typed)) return { value: Number(typed) }
    const at = ISO_INSTANT.test(typed) ? Date.parse(typed) : Number.NaN
    if (!Number.isNaN(at)) return { value: at }
    const read = distance(given)
    if ('value' in read) return { value: direction === 'ago' ? now - read.value : now + read.value }
    return { must: `a time such as 2h (${direction === 'ago' ? 'ago' : 'from now'}) or 2026-11-16T02:00:00Z` }
  }
}

/** One that is to come: what was to end in the past never began. */
export function instantToCome(now: number): Reader<number> {
  const read = instant(now, 'ahead')
  return given => {
    const answer = read(given)
    return 'value' in answer && answer.value <= now ? { must: `a time to come: it is ${sayInstant(now)} now` } : answer
  }
}
