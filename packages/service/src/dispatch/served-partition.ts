import type { Hint, LaneMemory } from '../stores/store.ts'
import type { ServedLane } from './served-lane.ts'

interface Taken {
  readonly number: number
  readonly token: string
  readonly takenAt: number
  readonly wasServed: boolean
}

/** A partition that this instance is the steward of. */
export class ServedPartition {
  readonly number: number
  /** Every claim and every memory names it, and is refused once it is no longer the partition's. */
  readonly token: string
  readonly takenAt: number
  /** It was taken from another steward, which may have known more than it wrote down. */
  readonly wasServed: boolean
  /** `reading`: its queues and leases are not yet known. `gone`: another steward has it, or is about to take it. */
  phase: 'reading' | 'serving' | 'gone' = 'reading'
  readonly lanes: Map<string, ServedLane> = new Map()
  /** Written by an earlier steward, of lanes that have had no task since. */
  readonly memories: Map<string, LaneMemory> = new Map()
  /** They came while reading. */
  readonly earlyHints: Hint[] = []
  /** The claim under way: there is one at a time. */
  claim: Promise<void> | undefined
  /** Tasks that were cancelled while a claim was under way, which may have taken them. */
  readonly cancelled: Set<string> = new Set()
  /** Lanes whose turn came while a claim was under way. */
  readonly parked: Set<ServedLane> = new Set()
  /** Lanes that may have learned something since their memory was written. */
  readonly changed: Map<string, ServedLane> = new Map()
  /** The write of memories under way: there is one at a time. */
  writing: Promise<void> | undefined
  /** An instant of the elapsed clock. */
  listAgainAt: number = -Infinity

  constructor({ number, token, takenAt, wasServed }: Taken) {
    this.number = number
    this.token = token
    this.takenAt = takenAt
    this.wasServed = wasServed
  }
}
