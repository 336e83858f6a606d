/** The documents of the records of keys and secrets. */
import type { RecordName } from '../stores/store.ts'
import type { Scope } from './caller.ts'

/**
 * Written along whenever a key of an operator is revoked. Of two operators that revoke each other at the same moment, in
 * whatever instances, the second write conflicts, and its caller looks again at the keys that are left.
 */
export const OPERATORS: RecordName = { kind: 'access', id: 'operators' }

export interface KeyDocument {
  readonly name?: string
  readonly scopes: readonly Scope[]
  readonly createdBy: string
  /** From then on it is refused. */
  readonly expiresAt?: number
  /** The newest first. During a rotation the previous one is good as well, until its end. */
  readonly hashes: readonly KeyHash[]
}

export interface KeyHash {
  readonly hash: string
  readonly until?: number
}

export interface SecretDocument {
  /** Left out: it signs for every destination of its tenant that has no secret of its own. */
  readonly destination?: string
  readonly createdBy: string
  /** The newest first. During a rotation deliveries are signed with the previous one as well, until its end. */
  readonly secrets: readonly SigningSecret[]
}

export interface SigningSecret {
  /** `whsec_` and base64: Standard Webhooks. */
  readonly secret: string
  readonly until?: number
}

/** Nothing that comes from outside grows without a bound. */
export const MOST_TENANTS = 10_000
/** Of a tenant, and of operators. */
export const MOST_KEYS = 1_000
/** Of a tenant. */
export const MOST_SECRETS = 1_000
