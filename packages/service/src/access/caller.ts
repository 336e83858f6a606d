import { EVERY_TENANT } from '../task/lane.ts'

/** The sender of a request, and what it may ask for. */
export interface Caller {
  /** The id of its key, `admin` for the key that the service was started with, `local` where it has no keys. */
  readonly actor: string
  /** Its tasks and policies are this tenant's. It sees those of this tenant, or, if it is for all, of every tenant. */
  readonly tenant: string
  /** It runs the service: it may act for any tenant, and sees records that belong to none. */
  readonly isOperator: boolean
  /** An operator that names no tenant: its orders hold for every tenant, and it sees all of them. */
  readonly isForAll: boolean
  readonly scopes: ReadonlySet<Scope>
  /** The hash of the secret that it sent: a key has two during a rotation. */
  readonly secretHash?: string
  /** From then on its secret is refused. */
  readonly expiresAt?: number
}

export type Scope = (typeof SCOPES)[number]

export const SCOPES = [
  'enqueue', // hand over tasks and bodies
  'read', // tasks, attempts, policies, destinations: all but the bodies of requests and answers
  'read-bodies', // these, too
  'operate', // cancel, replay, pause, switch off
  'admin', // policies, keys, secrets; and everything above
] as const

/** The tenant of callers without keys. It is always there. */
export const DEFAULT_TENANT = 'default'

/** Letters that every header, file and SQL dialect takes as they are. No space, because one separates the parts of a lane's name. */
export const TENANT_NAME = '^[a-z0-9][a-z0-9-]{0,62}$'

const EVERY_SCOPE: ReadonlySet<Scope> = new Set(SCOPES)

/** Without keys every caller on this machine's own interface may do everything. */
export const LOCAL_CALLER: Caller = operator('local')

/** The caller with the key that the service was started with. */
export const ADMIN_CALLER: Caller = operator('admin')

/** The tenant whose records a caller reads; none for an operator that names no tenant and reads all. */
export function seenBy({ tenant, isForAll }: Pick<Caller, 'tenant' | 'isForAll'>): { readonly tenant?: string } {
  return isForAll ? {} : { tenant }
}

/** The tenant of the records that a caller writes. */
export function ownerOf({ tenant, isForAll }: Pick<Caller, 'tenant' | 'isForAll'>): string {
  return isForAll ? EVERY_TENANT : tenant
}

export function scopesOf(granted: readonly Scope[]): ReadonlySet<Scope> {
  return granted.includes('admin') ? EVERY_SCOPE : new Set(granted)
}

function operator(actor: string): Caller {
  return { actor, tenant: DEFAULT_TENANT, isOperator: true, isForAll: true, scopes: EVERY_SCOPE }
}
