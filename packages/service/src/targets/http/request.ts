import type { Dispatcher } from 'undici'
import { CONNECTION_HEADERS } from '../../connection-headers.ts'
import { placeOf } from '../guard.ts'
import type { Delivery } from '../target.ts'

/** A request as undici takes it, and where it goes. */
export interface WireRequest {
  readonly origin: string
  readonly port: number
  readonly options: Dispatcher.DispatchOptions
}

/** `refused` says why nothing can be sent. */
export type WireRead =
  | { readonly wire: WireRequest; readonly refused?: undefined }
  | { readonly wire?: undefined; readonly refused: string }

/**
 * What is sent: the task's own headers, those of the attempt before them, and a name if the task gives none.
 *
 * All of it is checked here: undici would refuse what it cannot write, but counts the connection that it had chosen for
 * it as busy from then on.
 */
export function readRequest({ request, headers: own }: Delivery, userAgent: string): WireRead {
  const { targetUrl, method, body } = request
  const place = placeOfUrl(targetUrl)
  if (place.refused !== undefined) return { refused: place.refused }
  // A tunnel is nothing that an attempt could end.
  if (!TOKEN.test(method) || method === 'CONNECT') return { refused: 'the method is none that is sent' }

  const headers: string[] = []
  let isNamed = false
  for (const name in request.headers) {
    const smallName = name.toLowerCase()
    if (Object.hasOwn(own, smallName)) continue
    const refused = refusalOf(name, smallName, request.headers[name]!)
    if (refused !== undefined) return { refused }
    headers.push(name, request.headers[name]!)
    isNamed ||= smallName === 'user-agent'
  }
  for (const name in own) {
    const refused = refusalOf(name, name, own[name]!)
    if (refused !== undefined) return { refused }
    headers.push(name, own[name]!)
    isNamed ||= name === 'user-agent'
  }
  if (!isNamed) headers.push('user-agent', userAgent)
  const { origin, port, path } = place
  return { wire: { origin, port, options: { path, method, headers, body } } }
}

type Place =
  | { readonly origin: string; readonly port: number; readonly path: string; readonly refused?: undefined }
  | { readonly refused: string }

/** A destination's tasks mostly go to few URLs: what was read of one is kept, for so many of usual length. */
const MOST_KNOWN = 1_000
const LONGEST_KNOWN = 256
const known = new Map<string, Place>()

function placeOfUrl(targetUrl: string): Place {
  const found = known.get(targetUrl)
  if (found !== undefined) return found
  const place = readPlace(targetUrl)
  if (known.size >= MOST_KNOWN) known.clear()
  if (targetUrl.length <= LONGEST_KNOWN) known.set(targetUrl, place)
  return place
}

function readPlace(targetUrl: string): Place {
  const url = URL.parse(targetUrl)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    return { refused: 'the target is no http or https URL' }
  if (url.username !== '' || url.password !== '')
    return { refused: 'the target has a user or a password in its URL; send them as a header' }
  const { pathname, search, origin } = url
  return { origin, port: placeOf(url).port, path: pathname + search }
}

/** RFC 9110 §5.6.2. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/

/** RFC 9110 §5.5: what would end the line, or is no byte, is no part of a value. */
const BEYOND_VALUE = /[^\t\u0020-\u007E\u0080-\u00FF]/

function refusalOf(name: string, smallName: string, value: string): string | undefined {
  if (!TOKEN.test(name)) return 'a header has a name that is none'
  if (BEYOND_VALUE.test(value)) return `the header ${name} has a value that cannot be sent`
  if (CONNECTION_HEADERS.has(smallName)) return `the header ${name} belongs to the connection`
  return undefined
}
