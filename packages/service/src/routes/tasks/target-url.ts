import { isHostName } from '../../host-name.ts'
import { REDACTED } from '../../secrets.ts'
import { sentence } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { isWellFormed } from '../requests/well-formed.ts'
import { right, wrong, type Read } from './read.ts'

const LONGEST_URL = 8_192

/** An address that may be called, as far as its text tells; or what is wrong with it. */
export function readTargetUrl(
  text: string,
  { checkTarget }: Pick<ApiContext, 'checkTarget'>,
  field = 'targetUrl',
): Read<URL> {
  const url = URL.parse(text)
  // Whoever writes a password into an address should not find it in an answer.
  const is = text.includes('@') ? REDACTED : text
  if (url === null) return wrong(field, is, 'must be an absolute address, such as https://api.example/charge')
  const say = wrongWith(text, url)
  if (say !== undefined) return wrong(field, is, say)
  const forbidden = checkTarget?.(url.href)
  if (forbidden === undefined) return right(url)
  const alone = { code: 'target-forbidden', detail: sentence(forbidden) } as const
  return { ...wrong(field, is, `must not be called: ${forbidden}`), alone }
}

function wrongWith(text: string, url: URL): string | undefined {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must begin with http:// or https://'
  // The parser takes out or replaces these without a word, and another address is called than was written.
  if (!isWellFormed(text)) return 'must not hold half of a surrogate pair, which is no character'
  if (/[\s\p{Cc}]/u.test(text)) return 'must not hold spaces or control characters; percent-encode them'
  if (url.username !== '' || url.password !== '') return 'must not hold credentials; send them in headers'
  if (text.includes('#')) return 'must not have a fragment: it is never sent'
  if (url.href.length > LONGEST_URL) return `must be at most ${LONGEST_URL} characters long, once percent-encoded`
  if (!isHostName(url.hostname)) return 'must name a host that can exist: labels of 1 to 63 characters, 253 together'
  return undefined
}
