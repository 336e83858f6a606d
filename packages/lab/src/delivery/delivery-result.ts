import type { LatencyMeasures } from '../measure/result.ts'
import type { DeliverySteps } from './delivery-meter.ts'

/** The result of a delivery scenario. Instants count from its beginning. */
export interface DeliveryResult {
  readonly scenario: string
  readonly seed: number
  readonly durationMs: number
  readonly stepMs: number
  readonly endedAtMs: number
  readonly events: number
  readonly groups: { readonly [name: string]: GroupMeasures }
  /** Of all groups together, without those of which no task can ever be delivered. */
  readonly all: GroupMeasures
  readonly perStep: DeliverySteps
  /** When the last trouble is over; absent: there is none. */
  readonly returnsAtMs?: number
  /** While a trouble lasted; absent: there is none. */
  readonly requestsWhileDown?: number
}

export interface GroupMeasures {
  /** Tasks that have arrived. */
  readonly tasks: number
  readonly delivered: number
  /** Tasks that had not ended when the run did. */
  readonly waiting: number
  readonly dead: { readonly [reason: string]: number }
  /** Tasks that ended without one attempt. */
  readonly unsent: number
  readonly requests: number
  readonly failedAttempts: number
  readonly lastArrivalAtMs: number
  /** Of tasks that were delivered: from their arrival until then. */
  readonly lateness: LatencyMeasures
  /** The first delivery after the last trouble. */
  readonly firstAfterReturnAtMs?: number
  /** When 99 in 100 of all its tasks were delivered; absent: they never were. */
  readonly delivered99AtMs?: number
  readonly deliveredAllAtMs?: number
  /** The same for the tasks that had arrived when the last trouble was over; without one for all. */
  readonly backlog99AtMs?: number
  readonly backlogAllAtMs?: number
}
