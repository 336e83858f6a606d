import type { RetryState } from '@secondwind/resilience'
import type { lane, laneKind } from '@secondwind/resilience/rules'
import type { Response } from './destination.ts'

/** A task of the service. It is under way, or it is due at `dueAt`, or it has ended. */
export interface Task {
  /** Its place among all tasks, and the id of its event. */
  readonly id: number
  readonly group: number
  readonly failFirst: number
  readonly arrivedAt: number
  readonly expiresAt: number
  state: RetryState
  dueAt: number
  underWay: UnderWay | undefined
}

export interface UnderWay {
  readonly kind: laneKind.StartKind
  readonly startedAt: number
  /** Requests of the lane that were under way when it began, itself included. */
  readonly inFlight: number
  readonly payment: lane.Payment
  readonly response: Response
}

/** Attempts before the one that comes next. */
export function attemptsMade({ state }: Task): number {
  return state.attempt - 1
}
