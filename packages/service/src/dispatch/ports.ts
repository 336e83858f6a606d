import type { Clock, Random } from '@secondwind/resilience'
import type { TaskStore } from '../stores/task-store.ts'
import type { Target } from '../targets/target.ts'
import type { DispatchEvents } from '../telemetry/events.ts'
import type { SigningSecretsOf } from './signature.ts'
import type { StoreCalls } from './store-calls.ts'
import type { StoreTime } from './store-time.ts'

/** All of the outside world that a dispatcher sees. */
export interface DispatchPorts {
  /** This process among those that share the store. */
  readonly instance: string
  readonly clock: Clock
  readonly random: Random
  /** A text that nobody else has, in this process or another: leases and stewards are known by it. */
  readonly newToken: () => string
  readonly store: TaskStore
  readonly target: Target
  /** Left out: nothing is signed. */
  readonly signingSecretsOf?: SigningSecretsOf
  readonly events: DispatchEvents
  readonly calls: StoreCalls
  readonly time: StoreTime
}
