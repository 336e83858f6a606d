import type { IncomingMessage } from 'node:http'

/**
 * Headers that decide who asks, for whom, and for what. RFC 9110 §5.3: each stands once, or not at all. Of two, Node takes the
 * first or joins them, and whoever stands between here and there may have read the other.
 */
const ONCE: ReadonlyMap<string, string> = new Map(
  ['Host', 'Authorization', 'Secondwind-Tenant', 'Idempotency-Key', 'Content-Type', 'Last-Event-ID'].map(name => [
    name.toLowerCase(),
    name,
  ]),
)

/** Those of them that a request has more than once. */
export function repeatedHeaders({ rawHeaders, headers }: Pick<IncomingMessage, 'rawHeaders' | 'headers'>): string[] {
  // Names and values, against names: nearly always each stands there once, and nothing more is looked at.
  if (rawHeaders.length === 2 * Object.keys(headers).length) return []
  const seen = new Set<string>()
  const repeated = new Set<string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase()
    if (seen.has(name) && ONCE.has(name)) repeated.add(ONCE.get(name)!)
    seen.add(name)
  }
  return [...repeated]
}
