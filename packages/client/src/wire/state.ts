/** The process answers. */
export interface Alive {
  readonly status: 'alive'
  /** Of the service. */
  readonly version: string
  /** What time it is for the service. */
  readonly answeredAt: number
}

/** It can do its work: take tasks in, and send them. */
export interface Ready {
  readonly status: 'ready'
  /** How far the machine's clock has gone from the store's. */
  readonly clockSkewMs: number
}
