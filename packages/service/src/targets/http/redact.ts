import { isSecretName, REDACTED } from '../../secrets.ts'

/** What is kept of a header. */
export function redacted(name: string, value: string): string {
  return isSecretName(name) ? REDACTED : value
}

/** Shorter ones would blot out common words. */
const SHORTEST_SECRET = 8

/**
 * What must not be read in an answer: the secrets that were sent, for some servers repeat what they were asked with.
 * A value counts as a whole and by its parts: of `Bearer abc…` it is the second that opens doors.
 */
export function secretsOf(headers: { readonly [name: string]: string }): readonly string[] {
  const names = Object.keys(headers).filter(isSecretName)
  if (names.length === 0) return NONE
  return names
    .flatMap(name => [headers[name]!, ...headers[name]!.split(/[\s;,="]+/)])
    .filter(secret => secret.length >= SHORTEST_SECRET)
}

const NONE: readonly string[] = []

export function blotOut(text: string, secrets: readonly string[]): string {
  return secrets.reduce((blotted, secret) => blotted.replaceAll(secret, REDACTED), text)
}
