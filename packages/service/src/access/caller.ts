/** Whoever asks something of the service, and what it may ask for. */
export interface Caller {
  /** The id of its key; `local` where the service has no keys. */
  readonly actor: string
  /** Whose tasks, policies and settings it sees. */
  readonly tenant: string
  /** May name any tenant, and create them. */
  readonly isOperator: boolean
  readonly scopes: ReadonlySet<Scope>
}

export type Scope = (typeof SCOPES)[number]

export const SCOPES = [
  'enqueue', // hand over tasks and bodies
  'read', // tasks, attempts, policies, destinations, without what was sent
  'read-bodies', // what was sent and answered
  'operate', // cancel, replay, pause, switch off
  'admin', // policies, keys, secrets, tenants
] as const

/** The tenant of those who have no keys, and of what was there before there were any. */
export const DEFAULT_TENANT = 'default'

/** Without keys whoever reaches this machine's own interface may do everything. */
export const LOCAL_CALLER: Caller = {
  actor: 'local',
  tenant: DEFAULT_TENANT,
  isOperator: true,
  scopes: new Set(SCOPES),
}
