/** The request that a task will send, as the caller gave it: URL, headers and body, or what is wrong with them. */
import { isHostName } from '../../host-name.ts'
import { REDACTED } from '../../secrets.ts'
import { destinationOf } from '../../task/lane.ts'
import { sentence } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { isWellFormed, right, wrong, type Read } from './read.ts'
import type { Problem } from '@secondwind/resilience'
import { CONNECTION_HEADERS } from '../../connection-headers.ts'
import type { BodyIndex, BodyRecord } from '../../stores/store.ts'
import { sayUnknownBody } from '../bodies/body-refusals.ts'
import type { TaskInput } from '../schemas/task-input.ts'

const LONGEST_URL = 8_192

/** An address as the URL standard writes it, and the destination that it leads to. */
export interface TargetUrl {
  readonly href: string
  readonly destination: string
}

/** Where it stands is `targetUrl`, if nothing else is said. */
export type ReadTargetUrl = (text: string, field?: string) => Read<TargetUrl>

/** Half a megabyte of them at most. */
const MOST_KNOWN = 1_000
const LONGEST_KNOWN = 512

/**
 * Nearly all tasks go to a few addresses, and to read one costs as much as to read all else of a task: those that were found
 * right are known, until there are too many of them.
 */
export function knowingTargetUrls(context: Pick<ApiContext, 'checkTarget'>): ReadTargetUrl {
  const known = new Map<string, Read<TargetUrl>>()
  return (text, field) => {
    const before = known.get(text)
    if (before !== undefined) return before
    const read = readTargetUrl(text, context, field)
    if (text.length > LONGEST_KNOWN || !('value' in read)) return read
    if (known.size >= MOST_KNOWN) known.clear()
    known.set(text, read)
    return read
  }
}

/** An address that may be called, as far as its text tells; or what is wrong with it. */
export function readTargetUrl(
  text: string,
  { checkTarget }: Pick<ApiContext, 'checkTarget'>,
  field = 'targetUrl',
): Read<TargetUrl> {
  const url = URL.parse(text)
  // Whoever writes a password into an address should not find it in an answer.
  const is = text.includes('@') ? REDACTED : text
  if (url === null) return wrong(field, is, 'must be an absolute address, such as https://api.example/charge')
  const says = wrongWithUrl(text, url)
  if (says.length > 0) return wrong(field, is, says.join('; '))
  const { href } = url
  const forbidden = checkTarget?.(href)
  if (forbidden === undefined) return right({ href, destination: destinationOf(url) })
  const alone = { code: 'target-forbidden', detail: sentence(forbidden) } as const
  return { ...wrong(field, is, `must not be called: ${forbidden}`), alone }
}

function wrongWithUrl(text: string, url: URL): string[] {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return ['must begin with http:// or https://']
  const says: string[] = []
  // The parser takes out or replaces these without a word, and another address is called than was written.
  if (!isWellFormed(text)) says.push('must not hold half of a surrogate pair, which is no character')
  if (/[\s\p{Cc}]/u.test(text)) says.push('must not hold spaces or control characters; percent-encode them')
  if (url.username !== '' || url.password !== '') says.push('must not hold credentials; send them in headers')
  if (text.includes('#')) says.push('must not have a fragment: it is never sent')
  if (url.href.length > LONGEST_URL) says.push(`must be at most ${LONGEST_URL} characters long, once percent-encoded`)
  if (!isHostName(url.hostname))
    says.push('must name a host that can exist: labels of 1 to 63 characters, 253 together')
  return says
}

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
    const say = wrongWithHeader(name, value, key)
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

function wrongWithHeader(name: string, value: string, key: string | undefined): string | undefined {
  if (!TOKEN.test(name)) return 'is no name of a header: letters, digits and a few signs, at least one of them'
  if (!VALUE.test(value)) return 'must hold no line breaks, no control characters, and nothing beyond Latin-1'
  if (name === 'idempotency-key' && value !== key) return 'is sent from the field idempotencyKey: give the key there'
  if (name.startsWith('webhook-')) return OWN
  return KEPT.get(name)
}

type Bodies = Pick<TaskInput, 'body' | 'bodyBase64' | 'bodyRef' | 'method'>

/** RFC 4648 §4 and §5, with or without padding. */
const BASE64 = /^(?:[A-Za-z\d+/]*|[A-Za-z\d_-]*)={0,2}$/

/** A task gives its bytes in one of these fields. */
const WAYS = ['body', 'bodyBase64', 'bodyRef'] as const

/** The bytes that every attempt will send, exactly as given. Null: there are none, or the task names an upload. */
export function readBody(given: Bodies): Read<Uint8Array | null> {
  const [at, second] = WAYS.filter(way => given[way] !== undefined)
  if (at === undefined) return right(null)
  const { method = 'POST', [at]: is = '' } = given
  if (second !== undefined) return wrong(at, is, `and ${second} exclude each other`)
  if (method === 'GET' || method === 'HEAD') return wrong(at, is, `has no meaning with ${method}: leave it out`)
  if (at === 'bodyRef') return right(null)
  if (at === 'bodyBase64') return isBase64(is) ? right(Buffer.from(is, 'base64')) : wrong(at, is, 'must be base64')
  return isWellFormed(is)
    ? right(Buffer.from(is, 'utf8'))
    : wrong(at, is, 'has half of a surrogate pair, which is no character; send such bytes as bodyBase64')
}

/** The body that was uploaded before, if the task names one. */
export async function findBody(
  tenant: string,
  { bodyRef }: Bodies,
  store: Pick<BodyIndex, 'bodies'>,
): Promise<Read<BodyRecord | undefined>> {
  if (bodyRef === undefined) return right(undefined)
  const [record] = await store.bodies([{ tenant, bodyRef }])
  if (record !== undefined) return right(record)
  const alone = { code: 'body-not-found', status: 422, detail: sayUnknownBody(bodyRef) } as const
  return { ...wrong('bodyRef', bodyRef, 'names no body that is here: upload it first'), alone }
}

/** Node decodes as much as it can, and leaves out the rest in silence. */
function isBase64(text: string): boolean {
  if (!BASE64.test(text)) return false
  const isPadded = text.endsWith('=')
  return isPadded ? text.length % 4 === 0 : text.length % 4 !== 1
}
