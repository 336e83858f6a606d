import type { Problem } from '@secondwind/resilience'
import { CONNECTION_HEADERS } from '../../connection-headers.ts'
import { right, type Read } from './read.ts'

export type Headers = { readonly [name: string]: string }

/** RFC 9110 §5.1, §5.5: a token; and visible characters, spaces and tabs, as far as a byte goes. */
const TOKEN = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/

const MOST_BYTES = 16_384

const HOP_BY_HOP = 'belongs to one connection, and the service keeps those itself'
const OWN = 'is written by the service, anew for every attempt'

/** Names that a task cannot bring, and why. */
const KEPT: ReadonlyMap<string, string> = new Map([
  ...[...CONNECTION_HEADERS].map(name => [name, HOP_BY_HOP] as const),
  ['host', 'is made from targetUrl'],
  ['content-length', 'is counted from the body'],
  ['expect', 'is not sent: an attempt sends its body at once'],
  ['retry-attempt', OWN],
  ['x-timeout-ms', OWN],
])

/** Headers in small letters, for HTTP knows no others; or everything that is wrong with them. */
export function readHeaders(given: Headers, key: string | undefined): Read<Headers> {
  const problems: Problem[] = []
  let bytes = 0
  let isSmall = true
  for (const spelled in given) {
    const value = given[spelled]!
    const name = spelled.toLowerCase()
    bytes += name.length + value.length
    isSmall &&= name === spelled
    const say = wrongWith(name, value, key)
    if (say !== undefined) problems.push({ at: `headers.${spelled}`, is: value, say })
  }
  if (!isSmall) problems.push(...givenTwice(given))
  if (bytes > MOST_BYTES)
    problems.push({ at: 'headers', is: undefined, say: `must have at most ${MOST_BYTES} bytes together, not ${bytes}` })
  if (problems.length > 0) return { problems }
  // The key goes out with every attempt anyway. Most have neither it nor a capital, and stay what they are.
  return right(isSmall && !Object.hasOwn(given, 'idempotency-key') ? given : keptOf(given))
}

function keptOf(given: Headers): Headers {
  const entries = Object.entries(given).map(([spelled, value]) => [spelled.toLowerCase(), value] as const)
  return Object.fromEntries(entries.filter(([name]) => name !== 'idempotency-key'))
}

function givenTwice(given: Headers): Problem[] {
  const names = new Set<string>()
  return Object.entries(given).flatMap(([spelled, is]) => {
    const isNew = names.size < names.add(spelled.toLowerCase()).size
    return isNew ? [] : { at: `headers.${spelled}`, is, say: 'is given twice: names know no case' }
  })
}

function wrongWith(name: string, value: string, key: string | undefined): string | undefined {
  if (!TOKEN.test(name)) return 'is no name of a header: letters, digits and a few signs, at least one of them'
  if (!VALUE.test(value)) return 'must hold no line breaks, no control characters, and nothing beyond Latin-1'
  if (name === 'idempotency-key' && value !== key) return 'is sent from the field idempotencyKey: give the key there'
  if (name.startsWith('webhook-')) return OWN
  return KEPT.get(name)
}
