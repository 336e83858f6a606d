import { hash, timingSafeEqual } from 'node:crypto'

/** A key as its owner has it: `swk_`, its id, and what only the owner knows. */
export interface KeyText {
  readonly keyId: string
  readonly secret: string
}

/** Scanners of leaked secrets go by such a beginning. */
const KEY = /^swk_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/

const KEY_ID_BYTES = 8
const KEY_SECRET_BYTES = 32

export function newKeyText(randomBytes: (length: number) => Buffer): KeyText {
  return {
    keyId: randomBytes(KEY_ID_BYTES).toString('hex'),
    secret: randomBytes(KEY_SECRET_BYTES).toString('base64url'),
  }
}

export function writeKey({ keyId, secret }: KeyText): string {
  return `swk_${keyId}_${secret}`
}

export function readKey(text: string): KeyText | undefined {
  const [, keyId, secret] = KEY.exec(text) ?? []
  return keyId === undefined || secret === undefined ? undefined : { keyId, secret }
}

/** The service keeps only this of a secret. It has 256 random bits, so that a plain hash is slow enough to hide it. */
export function hashOf(secret: string): string {
  return hash('sha256', secret)
}

/** Takes equally long for every secret, whatever its length. */
export function isSameHash(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}
