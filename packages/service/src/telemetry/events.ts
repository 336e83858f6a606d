import type { GiveUpReason } from '@secondwind/resilience'
import type { Lane } from '../task/lane.ts'
import type { HoldReason } from '../task/lane-view.ts'
import type { AttemptOutcome, TaskStatus } from '../task/task.ts'
import type { TaskChange } from '../task/task-change.ts'
import type { SeriesBook } from './series/series-book.ts'
import type { EventStream } from './stream/event-stream.ts'

/** What the dispatcher tells of, once it is written: plain data, and nobody's answer is waited for. */
export interface DispatchEvents {
  attemptEnded(event: AttemptEnded): void
  /** A task of this tenant is something else than it was: under way, waiting again, or at its end. What, only who needs it asks. */
  taskChanged(tenant: string, change: () => TaskChange): void
  taskEnded(event: TaskEnded): void
  /** A lane that had a due task was kept waiting so long by a closed gate. */
  held(event: Held): void
  /** A destination has stopped answering, or answers again. A breaker that is set by hand is in the audit instead. */
  breakerChanged(event: BreakerChanged): void
  /** A result that came too late: the lease had been taken over, and the store refused it. */
  orphan(event: Orphan): void
  /** Something that an operator should know, in a sentence. The code is kebab-case and one of few. */
  warning(code: string, text: string): void
}

/** What somebody has done to a single task, once it is written. */
export interface OperatorEvents {
  taskOperated(event: TaskOperated): void
}

export interface TaskOperated {
  readonly taskId: string
  readonly verb: 'cancel' | 'attempt-now' | 'replay'
  /** What it is then. */
  readonly status: TaskStatus
}

interface OfTask {
  readonly taskId: string
  /** As `laneKey` writes it. */
  readonly lane: string
  readonly policyId: string
}

/** How an attempt ended; written out field by field, for it is told of thousands of times a second. */
interface OfEnd {
  readonly outcome: AttemptOutcome
  readonly responseStatus?: number | undefined
  readonly errorCode?: string | undefined
  readonly errorMessage?: string | undefined
}

export interface AttemptEnded extends OfTask, OfEnd, Lateness {
  /** The first is 1. */
  readonly attemptNumber: number
  readonly durationMs: number
}

/** How late its request was handed over to be sent, and whose fault that was. */
export interface Lateness {
  /** From the instant at which it was due. */
  readonly latenessMs: number
  /** What no gate held: from due, or from the gate's opening when that was later. Too few slots are the service's own fault. */
  readonly ownLatenessMs: number
  /** The same without the wait for a slot: the work of the service itself. */
  readonly overheadMs: number
}

export interface TaskEnded extends OfTask {
  readonly status: Extract<TaskStatus, 'SUCCEEDED' | 'EXHAUSTED' | 'CANCELLED'>
  /** Of a dead letter. */
  readonly reason?: GiveUpReason | undefined
  readonly attemptNumber: number
  /** Since `createdAt`. */
  readonly ageMs: number
}

export interface Held {
  readonly lane: string
  readonly reason: HoldReason
  readonly ms: number
}

export type BreakerChanged = Lane &
  (
    | {
        readonly phase: 'open'
        /** When the next probe is sent. */
        readonly until: number
        /** Of the attempt after which it opened. */
        readonly errorCode?: string | undefined
      }
    | { readonly phase: 'closed' }
  )

export interface Orphan extends OfTask, OfEnd {
  readonly durationMs: number
}

/** Everybody hears everything, in this order. */
export function tellAll(listeners: readonly DispatchEvents[]): DispatchEvents {
  return {
    attemptEnded: event => listeners.forEach(listener => listener.attemptEnded(event)),
    taskChanged: (tenant, change) => listeners.forEach(listener => listener.taskChanged(tenant, change)),
    taskEnded: event => listeners.forEach(listener => listener.taskEnded(event)),
    held: event => listeners.forEach(listener => listener.held(event)),
    breakerChanged: event => listeners.forEach(listener => listener.breakerChanged(event)),
    orphan: event => listeners.forEach(listener => listener.orphan(event)),
    warning: (code, text) => listeners.forEach(listener => listener.warning(code, text)),
  }
}

/** What can be watched while it happens: the stream of events, and the series. */
export interface Live {
  readonly stream: EventStream
  readonly series: SeriesBook
}

/** To be told what the dispatcher does. */
export function liveEvents({ stream, series }: Live): DispatchEvents {
  return {
    attemptEnded: event => series.attemptEnded(event),
    taskChanged: (tenant, change) => stream.taskChanged(tenant, change),
    taskEnded() {},
    held() {},
    breakerChanged() {},
    orphan() {},
    warning() {},
  }
}
