/** The process answers. */
export interface Alive {
  readonly status: 'alive'
  /** Of the service. */
  readonly version: string
  /** Of its data file, if it has one: an upgrade may raise it, and an older version refuses it then. */
  readonly format?: number
  /** The name that the process gave itself: another one after each start. */
  readonly instance: string
  /** What time it is for the service. */
  readonly answeredAt: number
}

/** It can do its work: take tasks in, and send them. */
export interface Ready {
  readonly status: 'ready'
  /** How far the machine's clock has gone from the store's. */
  readonly clockSkewMs: number
}
