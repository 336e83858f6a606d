import type { ClaimedTask } from '../task/task.ts'
import type { Bodies } from './bodies.ts'
import type { DispatchPorts } from './ports.ts'
import type { ServedLane } from './served-lane.ts'
import type { Settling } from './settling.ts'
import type { Steering } from './steering.ts'
import type { Mark } from './store-calls.ts'
import type { UnderWay } from './claims.ts'

/** What an attempt needs of its surroundings. */
export interface AttemptSetting {
  readonly ports: DispatchPorts
  readonly bodies: Bodies
  readonly settling: Settling
  readonly steering: Steering
  readonly underWay: UnderWay
  /** It holds its slot no longer. */
  readonly onEnd: (lane: ServedLane) => void
  /** The lane's phase or hold changed: that has to be remembered. */
  readonly onPhase: (lane: ServedLane) => void
  /** The lane's destination answers again after a silence. */
  readonly onBack: (lane: ServedLane) => void
  /** No attempt can be made under a policy that is not there. */
  readonly onPolicyMissing: (task: ClaimedTask, lane: ServedLane) => void
  /** Something of ours is lacking, and it cannot be sent now: nothing is learned from trying at once. */
  readonly onLack: (task: ClaimedTask, lane: ServedLane) => void
}

/** A task, and how it was claimed. */
export interface Claimed {
  readonly task: ClaimedTask
  readonly lane: ServedLane
  /** The limit that the claim carried. */
  readonly limit: number
  /** Before it was asked for. */
  readonly claimedAt: Mark
  /** While the claim was under way. */
  readonly isCancelled: boolean
}
