import { isLoopback } from '../../loopback.ts'

/** A name or an address, and perhaps a port. */
const HOST = /^(\[[\da-f:.]+\]|[^\s:/?#@[\]]+)(?::\d{1,5})?$/i

/** Nearly every request names the same host: what was found right is remembered, and no more than this of it. */
const MOST_REMEMBERED = 100
const knownToBeLoopback = new Set<string>()

/**
 * Whether a request is meant for this service. A page that somebody visits can have its own name lead to this machine:
 * the browser then lets it read every answer, and only the `Host` header tells.
 */
export function isOwnHost(host: string, allowed: readonly string[]): boolean {
  if (knownToBeLoopback.has(host)) return true
  const name = HOST.exec(host)?.[1]?.toLowerCase()
  if (name === undefined) return false
  if (!isLoopbackName(name)) return allowed.some(each => [name, host.toLowerCase()].includes(each.toLowerCase()))
  if (knownToBeLoopback.size < MOST_REMEMBERED) knownToBeLoopback.add(host)
  return true
}

/** RFC 6761 §6.3: names below localhost are loopback, too. */
function isLoopbackName(name: string): boolean {
  return name.endsWith('.localhost') || isLoopback(name.replace(/^\[|\]$/g, ''))
}

/** Whether the page that sent a request came from here as well: programs send no `Origin`, browsers do. */
export function isOwnOrigin(origin: string, host: string): boolean {
  const page = URL.parse(origin)
  return page !== null && page.host === URL.parse(`${page.protocol}//${host}`)?.host
}
