import { isHostName } from '../../host-name.ts'
import { REDACTED } from '../../secrets.ts'
import { destinationOf } from '../../task/lane.ts'
import { sentence } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { isWellFormed } from '../requests/well-formed.ts'
import { right, wrong, type Read } from './read.ts'

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
  const says = wrongWith(text, url)
  if (says.length > 0) return wrong(field, is, says.join('; '))
  const { href } = url
  const forbidden = checkTarget?.(href)
  if (forbidden === undefined) return right({ href, destination: destinationOf(url) })
  const alone = { code: 'target-forbidden', detail: sentence(forbidden) } as const
  return { ...wrong(field, is, `must not be called: ${forbidden}`), alone }
}

function wrongWith(text: string, url: URL): string[] {
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
