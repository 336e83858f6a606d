import type { Hint, LaneMemory } from '../stores/task-store.ts'
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
  /** It was taken from somebody, who may have known of more than was written down. */
  readonly wasServed: boolean
  /** `reading`: what waits and who holds leases is not yet known. `gone`: somebody else's now, or about to be. */
  phase: 'reading' | 'serving' | 'gone' = 'reading'
  readonly lanes: Map<string, ServedLane> = new Map()
  /** What an earlier steward left of lanes that nothing has been heard of since. */
  readonly memories: Map<string, LaneMemory> = new Map()
  /** Heard of while reading. */
  readonly earlyHints: Hint[] = []
  /** The claim under way: there is one at a time. */
  claim: Promise<void> | undefined
  /** Tasks that were cancelled while a claim was under way, which may have taken them. */
  readonly cancelled: Set<string> = new Set()
  /** Lanes whose turn came while a claim was under way. */
  readonly parked: Set<ServedLane> = new Set()
  /** When leases that others left end, the earliest first, on the store's clock. */
  leaseEnds: number[] = []
  /** An instant of the elapsed clock. */
  listAgainAt: number = -Infinity
  isListing = false

  constructor({ number, token, takenAt, wasServed }: Taken) {
    this.number = number
    this.token = token
    this.takenAt = takenAt
    this.wasServed = wasServed
  }
}
