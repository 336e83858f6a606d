import type { GiveUpReason } from '@secondwind/resilience'
import type { GateReason } from './task.ts'

/** Dead letters that died of the same thing. */
export interface Cause {
  readonly causeId: string
  /** Whose tasks they are. */
  readonly tenant: string
  readonly destination: string
  readonly reason: GiveUpReason
  /** The gate that held them until their deadline. */
  readonly heldBy?: GateReason
  readonly responseStatus?: number
  readonly errorCode?: string
  /** Of one of them. */
  readonly errorMessage?: string
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
  /** Some of them. */
  readonly sampleTaskIds: readonly string[]
}

/** Which dead letters to list. */
export interface DeadLetterFilter {
  /** Those of one cause. */
  readonly causeId?: string
  /** Its origin, in any spelling, or the name that it was given. */
  readonly destination?: string
}
