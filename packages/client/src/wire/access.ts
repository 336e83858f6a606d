/** What a key may do; `admin` includes all others. */
export type Scope = 'enqueue' | 'read' | 'read-bodies' | 'operate' | 'admin'

/** A key, without what makes it one. */
export interface Key {
  readonly keyId: string
  /** For people. */
  readonly name?: string
  /** Absent for a key of an operator, which acts for every tenant. */
  readonly tenant?: string
  readonly isOperator: boolean
  readonly scopes: readonly Scope[]
  readonly createdAt: number
  /** The id of the key that made it. */
  readonly createdBy: string
  /** It is refused from then on. */
  readonly expiresAt?: number
  /** Until then the text of before the rotation is taken, too. */
  readonly overlapsUntil?: number
  /** Grows with every change. */
  readonly version: number
  /** It is refused since then: in the answer that revokes it. */
  readonly revokedAt?: number
}

/** A key as it is shown once, and never again. */
export interface ShownKey extends Key {
  /** What goes into `ClientOptions.key`. */
  readonly key: string
}

export interface KeyInput {
  readonly scopes: readonly Scope[]
  readonly name?: string
  /** It acts for every tenant; the first key of a service must. */
  readonly isOperator?: boolean
  readonly expiresAt?: number
  readonly reason?: string
}

/** A secret that deliveries are signed with. */
export interface Secret {
  readonly secretId: string
  /** Absent: all destinations that have none of their own. */
  readonly destination?: string
  readonly createdAt: number
  readonly createdBy: string
  /** Until then deliveries are signed with the one of before, too. */
  readonly overlapsUntil?: number
  /** Grows with every change. */
  readonly version: number
}

/** A secret as it is shown once. */
export interface ShownSecret extends Secret {
  /** `whsec_…`, for whoever verifies. */
  readonly secret: string
}

export interface SecretInput {
  readonly destination?: string
  readonly reason?: string
}

export interface RotationInput {
  /** How long the one of before is good for, too; a day unless told. */
  readonly overlapMs?: number
  readonly reason?: string
}

export interface Tenant {
  readonly tenant: string
  /** Absent for the one that was always there. */
  readonly createdAt?: number
}

export interface TenantInput {
  readonly tenant: string
  readonly reason?: string
}

/** Somebody did something. */
export interface AuditEntry {
  readonly auditId: string
  readonly at: number
  readonly tenant: string
  /** The id of a key; `local` without keys; `system` for the service itself. */
  readonly actor: string
  /** `task.cancel`, `key.create` … */
  readonly action: string
  readonly subject: string
  readonly reason?: string
  readonly details?: { readonly [name: string]: unknown }
}

export interface AuditFilter {
  readonly actor?: string
  readonly action?: string
  readonly subject?: string
  readonly since?: number
  /** Before this instant. */
  readonly until?: number
  /** Of every tenant; for operators. */
  readonly all?: boolean
}
