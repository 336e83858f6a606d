import type { ComingBack } from './destination.ts'

/** `retries-off`: first attempts go out. `dispatch-off`: nothing does. `intake-off`: no tasks are taken in. */
export type ControlLevel = 'retries-off' | 'dispatch-off' | 'intake-off'

export type ControlScope =
  | { readonly kind: 'all' }
  | { readonly kind: 'tenant'; readonly tenant: string }
  | { readonly kind: 'policy'; readonly policyId: string }
  | { readonly kind: 'destination'; readonly destination: string }

/** One throw of the kill switch. */
export interface Control extends ComingBack {
  readonly controlId: string
  /** Whose policies and destinations are meant; absent: everybody's, by order of whoever runs the service. */
  readonly tenant?: string
  readonly level: ControlLevel
  readonly scope: ControlScope
  readonly reason: string
  readonly createdAt: number
  readonly createdBy: string
  /** Whoever runs the service has thrown it, and alone ends it. */
  readonly isByOperator: boolean
  readonly expiresAt?: number
  readonly endedAt?: number
  readonly endedBy?: string
  readonly isInForce: boolean
  /** Grows with every change. */
  readonly version: number
  /** Not in lists. */
  readonly holds?: Holds
}

/** What a control would hold: nothing was written, so it has no id, and nothing is in force. */
export interface ControlPreview extends Pick<
  Control,
  'tenant' | 'level' | 'scope' | 'reason' | 'isByOperator' | 'expiresAt' | keyof ComingBack
> {
  readonly isPreview: true
  readonly holds: Holds
}

/** What a control keeps waiting, as of now. */
export interface Holds {
  readonly lanes: number
  readonly waitingTasks: number
  /** False: at most so many, for some of them are not meant, or there are more than were counted. */
  readonly isExact: boolean
}

/** What it held comes back, when its time is over, as is said beside it. */
export interface ControlInput extends ComingBack {
  readonly level: ControlLevel
  readonly scope: ControlScope
  readonly reason: string
  /** An instant, or how long from now; with neither, until somebody ends it. */
  readonly expiresAt?: number
  readonly forMs?: number
}

/** What is in force for whoever asks: all that a library needs to follow it. */
export interface ControlState {
  /** The service's clock. */
  readonly now: number
  readonly controls: readonly Pick<Control, 'controlId' | 'level' | 'scope' | 'reason' | 'expiresAt'>[]
}
