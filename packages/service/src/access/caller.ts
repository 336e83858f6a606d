import { EVERY_TENANT } from '../task/lane.ts'

/** Whoever asks something of the service, and what it may ask for. */
export interface Caller {
  /** The id of its key, `admin` for the key that the service was started with, `local` where it has no keys. */
  readonly actor: string
  /** For whom it hands over tasks and policies; whose it sees, unless those of all. */
  readonly tenant: string
  /** Runs the service: may act for any tenant, and sees what belongs to none. */
  readonly isOperator: boolean
  /** An operator who names no tenant: what it orders holds for every one, and it sees what every one has. */
  readonly isForAll: boolean
  readonly scopes: ReadonlySet<Scope>
  /** The hash of the secret that it came with: a key has two during a rotation. */
  readonly secretHash?: string
  /** From then on what it came with is refused. */
  readonly expiresAt?: number
}

export type Scope = (typeof SCOPES)[number]

export const SCOPES = [
  'enqueue', // hand over tasks and bodies
  'read', // tasks, attempts, policies, destinations: all but what was sent and answered
  'read-bodies', // that, too
  'operate', // cancel, replay, pause, switch off
  'admin', // policies, keys, secrets; and everything above
] as const

/** The tenant of those who have no keys, and of what was there before there were any. */
export const DEFAULT_TENANT = 'default'

/** Letters that every header, file and SQL dialect takes as they are; no space, for names of lanes are parted by one. */
export const TENANT_NAME = '^[a-z0-9][a-z0-9-]{0,62}$'

const EVERY_SCOPE: ReadonlySet<Scope> = new Set(SCOPES)

/** Without keys whoever reaches this machine's own interface may do everything. */
export const LOCAL_CALLER: Caller = operator('local')

/** Whoever has the key that the service was started with. */
export const ADMIN_CALLER: Caller = operator('admin')

/** Whose things somebody reads: one tenant's, or, for an operator who names none, everybody's. */
export function seenBy({ tenant, isForAll }: Pick<Caller, 'tenant' | 'isForAll'>): { readonly tenant?: string } {
  return isForAll ? {} : { tenant }
}

/** Under whose name it is kept what somebody orders. */
export function ownerOf({ tenant, isForAll }: Pick<Caller, 'tenant' | 'isForAll'>): string {
  return isForAll ? EVERY_TENANT : tenant
}

export function scopesOf(granted: readonly Scope[]): ReadonlySet<Scope> {
  return granted.includes('admin') ? EVERY_SCOPE : new Set(granted)
}

function operator(actor: string): Caller {
  return { actor, tenant: DEFAULT_TENANT, isOperator: true, isForAll: true, scopes: EVERY_SCOPE }
}
