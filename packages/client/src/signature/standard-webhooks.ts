/**
 * Standard Webhooks 1.0.0: what is signed, and how it is written. Who signs and who verifies both read it here; the HMAC
 * itself is that of the platform.
 */

export const ID_HEADER = 'webhook-id'
export const TIMESTAMP_HEADER = 'webhook-timestamp'
export const SIGNATURE_HEADER = 'webhook-signature'

/** What stands before the body in the bytes that are signed. Seconds are whole, and since the epoch. */
export function signedHead(id: string, sentAtSeconds: number): string {
  return `${id}.${sentAtSeconds}.`
}

const SECRET_PREFIX = 'whsec_'

/** The key in a `whsec_…` text, with or without its prefix; undefined when there is none. */
export function secretBytes(secret: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = fromBase64(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret)
  return bytes?.length === 0 ? undefined : bytes
}

/** HMAC-SHA256. Others, such as `v1a` for ed25519, may stand beside it. */
const VERSION = 'v1,'

export function writeSignature(macBase64: string): string {
  return `${VERSION}${macBase64}`
}

/** More than any rotation needs; each one costs a comparison. */
const MOST_SIGNATURES = 10

/** The signatures of our version in a header; what cannot be read is no signature. */
export function readSignatures(header: string): Uint8Array<ArrayBuffer>[] {
  return header
    .split(' ')
    .filter(text => text.startsWith(VERSION))
    .slice(0, MOST_SIGNATURES)
    .flatMap(text => fromBase64(text.slice(VERSION.length)) ?? [])
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), character => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
