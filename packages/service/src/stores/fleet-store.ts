/** Which instances are alive, which of them serves which partition, and what a steward must know of its lanes. */
import type { TaskStatus } from '../task/task.ts'
import type { PartitionsPage } from './queue-store.ts'
import type { Answer, Page } from './store.ts'

export interface FleetStore {
  /** Says that this instance is alive. Answers who else is, who serves what, and how much waits. */
  beat(ask: Beat): Promise<Answer & Fleet>
  /** Makes `token` the partition's, if it is still `from`'s: null when it is free. */
  take(ask: Take): Promise<Answer & { readonly taken: boolean }>
  /** Frees a partition that is still this token's. */
  give(ask: { readonly partition: number; readonly steward: string }): Promise<Answer & { readonly given: boolean }>
  /** Keeps what the next steward must know of these lanes; refused as a whole if the steward has changed. */
  remember(ask: Remember): Promise<Answer & { readonly remembered: boolean }>
  memories(ask: PartitionsPage): Promise<Answer & Page<LaneRecord>>
  /** Told of every due instant that was written for a queue whose steward did not write it itself. */
  onHint(listener: (hint: Hint) => void): () => void
}

export interface Beat {
  readonly instance: string
  /** Tenants and lanes that have at least so much are named in the answer. */
  readonly largeFrom: { readonly tasks: number; readonly lanes: number }
}

export interface Fleet {
  /** How often each instance has beaten: a reader that looks twice sees which are alive. */
  readonly beats: readonly { readonly instance: string; readonly count: number }[]
  readonly stewards: readonly Steward[]
  /** Another number whenever a record was written that attempts or requests depend on. */
  readonly recordsVersion: number
  readonly waiting: WaitingTasks
}

/** How much there is; may lag a few seconds in a fleet. */
export interface WaitingTasks {
  readonly tasks: { readonly [status in TaskStatus]: number }
  /** Lanes with a task that waits or is under way. */
  readonly openLanes: number
  readonly tenants: readonly { readonly tenant: string; readonly pending: number; readonly openLanes: number }[]
  readonly lanes: readonly { readonly lane: string; readonly pending: number }[]
}

export interface Steward {
  readonly partition: number
  readonly instance: string
  readonly token: string
}

export interface Take extends Steward {
  readonly from: string | null
}

export interface Remember {
  readonly partition: number
  readonly steward: string
  readonly lanes: readonly LaneRecord[]
}

export interface LaneRecord {
  readonly lane: string
  readonly memory: LaneMemory
}

/** What a new steward has to know of a lane; plain JSON, made and read by the rules of lanes. */
export type LaneMemory = { readonly [field: string]: string | number | boolean | null }

export interface Hint {
  readonly partition: number
  readonly lane: string
  readonly queue: string
  readonly dueAt: number
}
