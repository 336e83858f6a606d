import { isHostName, withoutLastDot } from '../host-name.ts'

/**
 * The name of the destination that an address leads to: its origin, and one for every spelling of it. `api.example.` is
 * `api.example`: limits, a pause and a breaker would else be passed by a dot.
 */
export function destinationOf({ origin, hostname, port, protocol }: URL): string {
  if (!hostname.endsWith('.')) return origin
  return `${protocol}//${withoutLastDot(hostname)}${port && `:${port}`}`
}

/** Longer than any: 253 characters of a host, and what stands around it. */
const LONGEST_ORIGIN = 300

/** What somebody calls a destination, if it is an origin. */
export function destinationFrom(text: string): string | undefined {
  if (text.length > LONGEST_ORIGIN || !/^https?:\/\//i.test(text)) return undefined
  const url = URL.parse(text)
  // What has more than an origin was meant for something else.
  return url !== null && url.href === `${url.origin}/` && isHostName(url.hostname) ? destinationOf(url) : undefined
}
