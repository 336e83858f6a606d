/** What is kept of keys and secrets: the documents of their records. */
import type { Scope } from './caller.ts'

export interface KeyDocument {
  readonly name?: string
  readonly scopes: readonly Scope[]
  readonly createdBy: string
  /** It is refused from then on. */
  readonly expiresAt?: number
  /** The newest first. During a rotation the one before is taken as well, until its end. */
  readonly hashes: readonly KeyHash[]
}

export interface KeyHash {
  readonly hash: string
  readonly until?: number
}

export interface SecretDocument {
  /** What it signs, in a word: there is one for each. Older ones have none. */
  readonly name?: string
  /** Left out: for every destination of its tenant that has none of its own. */
  readonly destination?: string
  readonly createdBy: string
  /** The newest first. During a rotation deliveries are signed with the one before as well, until its end. */
  readonly secrets: readonly SigningSecret[]
}

export interface SigningSecret {
  /** `whsec_` and base64: Standard Webhooks. */
  readonly secret: string
  readonly until?: number
}

/** How many of each may be there: nothing that comes from outside grows without a bound. */
export const MOST_TENANTS = 10_000
export const MOST_KEYS = 1_000
export const MOST_SECRETS = 1_000
