/**
 * How long a server asks to be left alone. Numbers are read as decimal digits of bounded length: what cannot be read
 * is no hint, and no hint can overflow into "come back at once".
 */

/** `Headers`, or the plain objects of Node, axios and friends. */
export type HeaderSource =
  | { readonly get: (name: string) => string | null | undefined }
  | { readonly [name: string]: unknown }

/** The wait named by `Retry-After` or `retry-after-ms`, counted from `now` (wall time); undefined when there is none. */
export function retryAfterOf(headers: HeaderSource, now: number): number | undefined {
  return readDecimal(headerOf(headers, 'retry-after-ms')) ?? standardWait(headers, now)
}

function standardWait(headers: HeaderSource, now: number): number | undefined {
  const value = headerOf(headers, 'retry-after')
  const at = parseHttpDate(value)
  // Counted from the server's own date where it sent one, so that its clock and ours need not agree.
  return at === undefined ? readSeconds(value) : Math.max(0, at - (parseHttpDate(headerOf(headers, 'date')) ?? now))
}

/** Longer than any deadline, and far from what a number cannot hold. */
const LONGEST_WAIT = 1e12

export function readDecimal(value: string): number | undefined {
  // However many digits: a wait too long to be a number is still a wait, and not one to be hurried.
  return /^\d+(\.\d+)?$/.test(value) ? Math.min(Number(value), LONGEST_WAIT) : undefined
}

/** A field sent twice arrives as a list; the longest wait satisfies whoever wrote the others. */
export function readSeconds(value: string): number | undefined {
  const waits = value.split(',').map(part => readDecimal(part.trim()))
  const ms = Math.max(...waits.map(seconds => Math.ceil((seconds ?? -1) * 1000)))
  return ms >= 0 ? ms : undefined
}

/** RFC 9110 §5.6.7: the one form to send and the two old ones to accept, all in GMT; the last does not say so. */
const HTTP_DATE = /^[A-Z][a-z]+,? (\d\d[ -][A-Z][a-z]{2}[ -]\d{2,4} [\d:]{8} GMT|[A-Z][a-z]{2} [\d ]\d [\d:]{8} \d{4})$/

export function parseHttpDate(value: string): number | undefined {
  const [, date] = HTTP_DATE.exec(value) ?? []
  const at = date === undefined ? NaN : Date.parse(date.endsWith('GMT') ? date.replaceAll('-', ' ') : `${date} GMT`)
  return at >= 0 ? at : undefined
}

/** No hint is longer; what is, is not worth reading. */
const LONGEST_VALUE = 200

/** The header's value, however its name is spelled; empty when there is none that can be read. */
export function headerOf(headers: HeaderSource, name: string): string {
  const value: unknown =
    typeof headers.get === 'function'
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  if (typeof value === 'number') return String(value)
  const text = Array.isArray(value) ? value.join() : value
  if (typeof text !== 'string') return ''
  // Of digits alone the first say enough: a number too long to be read is still a long wait.
  return text.length <= LONGEST_VALUE || /^[1-9]\d{1,16383}$/.test(text) ? text.slice(0, LONGEST_VALUE).trim() : ''
}
