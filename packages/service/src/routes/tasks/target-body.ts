import type { RetryTaskInput } from '../schemas/task-input.ts'
import { isWellFormed } from '../requests/well-formed.ts'
import { right, wrong, type Read } from './read.ts'

type Bodies = Pick<RetryTaskInput, 'body' | 'bodyBase64' | 'method'>

/** RFC 4648 §4 and §5, with or without padding. */
const BASE64 = /^(?:[A-Za-z\d+/]*|[A-Za-z\d_-]*)={0,2}$/

/** The bytes that every attempt will send: exactly what was given. */
export function readBody({ body, bodyBase64, method = 'POST' }: Bodies): Read<Uint8Array | null> {
  if (body === undefined && bodyBase64 === undefined) return right(null)
  if (body !== undefined && bodyBase64 !== undefined) return wrong('body', body, 'and bodyBase64 exclude each other')
  const at = body === undefined ? 'bodyBase64' : 'body'
  const is = body ?? bodyBase64!
  if (method === 'GET' || method === 'HEAD') return wrong(at, is, `has no meaning with ${method}: leave it out`)
  if (at === 'bodyBase64') return isBase64(is) ? right(Buffer.from(is, 'base64')) : wrong(at, is, 'must be base64')
  return isWellFormed(is)
    ? right(Buffer.from(is, 'utf8'))
    : wrong(at, is, 'has half of a surrogate pair, which is no character; send such bytes as bodyBase64')
}

/** Node decodes whatever it can, and leaves out the rest in silence. */
function isBase64(text: string): boolean {
  if (!BASE64.test(text)) return false
  const isPadded = text.endsWith('=')
  return isPadded ? text.length % 4 === 0 : text.length % 4 !== 1
}
