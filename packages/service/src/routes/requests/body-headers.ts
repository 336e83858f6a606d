import type { IncomingHttpHeaders } from 'node:http'

/** RFC 9112 §6.3: a request has a body if it says how long it is, or that it comes in chunks. */
export function hasBody({ 'content-length': length = '0', 'transfer-encoding': coding }: IncomingHttpHeaders): boolean {
  return coding !== undefined || length !== '0'
}
