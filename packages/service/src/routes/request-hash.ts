import type { RetryPolicy } from '@secondwind/resilience'
import { hash } from 'node:crypto'
import type { TaskOrder } from '../task/accept.ts'

/** What a caller asked for, once it was read: all that would make it another request. */
export interface AskedFor extends Pick<
  TaskOrder,
  'request' | 'delayMs' | 'notBefore' | 'deadlineAt' | 'attemptsMade' | 'metadata' | 'callbackUrl'
> {
  /** The name of a policy, not its version: whoever asks again has written the same as before. */
  readonly policy: string | RetryPolicy
}

/**
 * Tells a repeated request from another one with the same key. Over what was asked, not over how it was written: neither
 * the order of fields counts, nor whether a body came as text or in base64.
 */
export function requestHash(asked: AskedFor): string {
  return hash('sha256', canonicalText(asked), 'base64url')
}

/** Line by line, as HTTP would write it. Nothing but the body, which comes last, can hold a line break. */
function canonicalText(asked: AskedFor): string {
  const { request, policy, delayMs, notBefore, deadlineAt, attemptsMade, metadata, callbackUrl } = asked
  const { targetUrl, method, headers, body, storedBody } = request
  const under = typeof policy === 'string' ? policy : JSON.stringify(policy)
  // What was spent before a hand-over is no part of what is asked: whoever crashed, and hands over again, asks the same.
  const times = attemptsMade === undefined ? `${delayMs},${notBefore},${deadlineAt}` : `${notBefore},${deadlineAt}`
  const notes = metadata === undefined ? '' : JSON.stringify(sorted(metadata))
  // Only where there is one: tasks that were kept before callbacks counted have hashes without this line.
  const told = callbackUrl === undefined ? '' : `callback ${callbackUrl}\n`
  const head = `${method} ${targetUrl}\n${headerLines(headers)}\n${under}\n${times}\n${notes}\n${told}`
  if (storedBody !== undefined) return `${head}bodyRef\n${storedBody.bodyRef}`
  return body === null ? head : `${head}body\n${characters(body)}`
}

type Texts = { readonly [name: string]: string }

function headerLines(headers: Texts): string {
  let lines = ''
  for (const [name, value] of sorted(headers)) lines += `${name}: ${value}\n`
  return lines
}

function sorted(texts: Texts): [string, string][] {
  const entries = Object.entries(texts)
  return entries.length < 2 ? entries : entries.toSorted(([left], [right]) => (left < right ? -1 : 1))
}

/** A character for each byte. */
function characters(body: Uint8Array): string {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.length)
  return bytes.toString('latin1')
}
