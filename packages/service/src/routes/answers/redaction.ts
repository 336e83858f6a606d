import type { Problem } from '@secondwind/resilience'
import { isSecretName, REDACTED } from '../../secrets.ts'

type Headers = { readonly [name: string]: string }

/** The same headers for everybody's eyes. Most have no secret, and come back as they are. */
export function redactHeaders(headers: Headers): Headers {
  for (const name in headers)
    if (isSecretName(name))
      return Object.fromEntries(
        Object.entries(headers).map(([each, value]) => [each, isSecretName(each) ? REDACTED : value]),
      )
  return headers
}

const LONGEST_SHOWN = 100

/** A problem as it may be answered: nothing secret in it, and nothing long. */
export function redactProblem({ at, is, say }: Problem): Problem {
  return { at: shorten(at), is: isSecretName(at) ? REDACTED : show(at, is), say }
}

function show(at: string, value: unknown): unknown {
  if (typeof value === 'string') return BODY.test(at) ? `[${value.length} characters]` : shorten(value)
  // What is in a list or an object may be secret under a name that we do not see from here.
  if (Array.isArray(value)) return `[a list of ${value.length}]`
  return typeof value === 'object' && value !== null ? '[an object]' : value
}

const BODY = /^body/

function shorten(text: string): string {
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN - 1)}…` : text
}
