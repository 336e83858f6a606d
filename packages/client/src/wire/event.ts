import type { GiveUpReason } from '@secondwind/resilience'
import type { Control } from './control.ts'
import type { Destination } from './destination.ts'
import type { Replay } from './replay.ts'
import type { SeriesSlot } from './series.ts'
import type { AttemptOutcome, Hold, TaskStatus } from './task.ts'

/** Something that happened. `eventId` is what `since` takes, to hear what came after it. */
export type ServiceEvent =
  | ({ readonly type: 'task' } & Identified & TaskEvent)
  | ({ readonly type: 'counters' } & Identified & CountersEvent)
  | ({ readonly type: 'destination' } & Identified & DestinationEvent)
  | ({ readonly type: 'control' } & Identified & ControlEvent)
  | ({ readonly type: 'replay' } & Identified & ReplayEvent)
  | ({ readonly type: 'gap' } & Identified & GapEvent)

export type EventType = ServiceEvent['type']

interface Identified {
  readonly eventId: string
}

interface OfTenant {
  /** Whose it is; told to an operator who names no tenant. */
  readonly tenant?: string
}

/** A task was accepted, sent, put off, ended, or changed by somebody. */
export interface TaskEvent extends OfTenant {
  readonly at: number
  readonly taskId: string
  readonly destination: string
  readonly status: TaskStatus
  /** Attempts made, without one that is under way. */
  readonly attemptNumber: number
  /** Of a `PENDING` task. */
  readonly nextAttemptAt?: number
  /** Of an `EXHAUSTED` one. */
  readonly reason?: GiveUpReason
  /** How the newest attempt ended. */
  readonly outcome?: AttemptOutcome
  readonly responseStatus?: number
  readonly errorCode?: string
}

/** Once a second: how many there are, and what happened last. */
export interface CountersEvent {
  readonly at: number
  readonly tasks: { readonly [status in TaskStatus]: number }
  /** False when there are more destinations than were counted. */
  readonly isExact: boolean
  readonly lastSecond: SeriesSlot
}

/** A gate of a destination opened or shut. */
export interface DestinationEvent extends OfTenant {
  readonly at: number
  readonly destination: string
  readonly breaker: NonNullable<Destination['breaker']>
  readonly hold?: Hold
}

/** A kill switch was thrown, was ended, or is over by itself: `isInForce` says which. */
export interface ControlEvent extends OfTenant, Omit<Control, 'tenant' | 'holds'> {
  readonly at: number
}

/** A replay has another status; once a second how far one under way has come. */
export interface ReplayEvent
  extends
    OfTenant,
    Pick<
      Replay,
      | 'replayId'
      | 'status'
      | 'statusSince'
      | 'ratePerSecond'
      | 'selected'
      | 'counts'
      | 'waitsFor'
      | 'waitsForRoom'
      | 'stopped'
      | 'endedFor'
    > {
  readonly at: number
}

/** Something is missing here: read again what must be right. */
export interface GapEvent {
  /** The listener was away for too long; another process had begun; more happened than it can be sent. */
  readonly because: 'too-old' | 'restart' | 'too-many'
  /** Events, at most; absent when nobody knows. */
  readonly missed?: number
}

export interface EventFilter {
  /** Its origin, in any spelling, or the name that it was given. */
  readonly destination?: string
  readonly taskId?: string
  /** All of them, unless some are named; gaps are always told. */
  readonly types?: readonly EventType[]
  /** The `eventId` of the last one that was heard; else from now on. */
  readonly since?: string
}
