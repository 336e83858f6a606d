import type { Problem } from '@secondwind/resilience'

/** What takes the place of a secret wherever it could be read. */
export const REDACTED = '[redacted]'

/** Names of what opens doors. Rather one too many: who needs the value has it. */
const SECRET_NAME =
  /authorization|authenticat|cookie|token|secret|passw|api[-_]?key|(?<!^idempotency)[-_]key$|credential|session|signature|^proxy-|(?:^|[-_.])auth(?:$|[-_])/i

/** Names are few and come again with every task: what was found out of one is kept, for so many of usual length. */
const MOST_KNOWN = 1_000
const LONGEST_KNOWN = 64
const known = new Map<string, boolean>()

/** Whether the value under this name, of a header or a field, is nobody's business but the two ends'. */
export function isSecretName(name: string): boolean {
  const found = known.get(name)
  if (found !== undefined) return found
  const isSecret = SECRET_NAME.test(name)
  if (known.size < MOST_KNOWN && name.length <= LONGEST_KNOWN) known.set(name, isSecret)
  return isSecret
}

/**
 * What is a secret whatever it is called: a key of ours, a signing secret (Standard Webhooks), and what stands before the host of an
 * address. Their beginnings count, too: a text may have been cut before it came here.
 */
const SECRETS = /swk_[\da-f]{16}_[\w-]+|whsec_[\w+/%-]{16,}={0,2}|(?<=:\/\/)[^\s/"]+(?=@)/gi

/** A text for everybody's eyes: the same, without the secrets that stand somewhere in it. */
export function redactText(text: string): string {
  return text.replaceAll(SECRETS, REDACTED)
}

/** A problem as it may be told: nothing secret in it, and nothing long. */
export function redactProblem({ at, is, say }: Problem): Problem {
  return { at: shorten(redactText(at)), is: redact(at, is), say }
}

/** What stands under this name, as far as it may be shown to whoever reads an error, or its log. */
export function redact(name: string, value: unknown): unknown {
  if (value === undefined) return undefined
  if (isSecretName(name)) return REDACTED
  if (typeof value === 'string') return redactNamed(name, value)
  // What is in a list or an object may be secret under a name that we do not see from here.
  if (Array.isArray(value)) return `[a list of ${value.length}]`
  return typeof value === 'object' && value !== null ? '[an object]' : value
}

function redactNamed(name: string, text: string): string {
  if (BODY.test(name)) return `[${text.length} characters]`
  return HEADER.test(name) || CREDENTIALS.test(text) ? REDACTED : shorten(redactText(text))
}

/** A body, or a whole document that came as one text, may hold anything. */
const BODY = /^(?:body|bodyBase64)?$/
/** As one text it holds its name and its value. */
const HEADER = /^headers?$/
/** `https://user:password@host`, however badly it is written. */
const CREDENTIALS = /:[^]*@/
const LONGEST_SHOWN = 100

function shorten(text: string): string {
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN - 1)}…` : text
}
