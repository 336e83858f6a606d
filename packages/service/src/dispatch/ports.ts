import type { Clock, Random, RetryPolicy } from '@secondwind/resilience'
import type { Beat, Store, WaitingTasks } from '../stores/store.ts'
import type { Target } from '../targets/target.ts'
import type { AcceptedTask } from '../task/task.ts'
import type { DispatchEvents } from '../telemetry/events.ts'
import type { SigningSecretsOf } from './signature.ts'
import type { StoreCalls, StoreTime } from './store-calls.ts'

/** The outside world of a dispatcher. */
export interface DispatchPorts {
  /** This process among those that share the store. */
  readonly instance: string
  readonly clock: Clock
  readonly random: Random
  /** A text that no process has made before: leases and stewards are known by it. */
  readonly newToken: () => string
  readonly store: Store
  readonly policies: TaskPolicies
  /** Beats name the tenants and lanes in which at least so much waits. */
  readonly largeFrom: Beat['largeFrom']
  /** Told at every beat how much waits. */
  readonly onWaiting: (waiting: WaitingTasks) => void
  readonly target: Target
  /** Deliveries of a lane that has any are signed. Left out: nothing is signed. */
  readonly signingSecretsOf?: SigningSecretsOf
  readonly events: DispatchEvents
  readonly calls: StoreCalls
  readonly time: StoreTime
}

/** The policies of tasks. A version never changes. */
export interface TaskPolicies {
  /** What was read before, so that most attempts wait for no promise. */
  atHand(task: PolicyOfTask): RetryPolicy | undefined
  /** Rejects when the store fails. */
  find(task: PolicyOfTask): Promise<RetryPolicy | 'missing'>
}

export type PolicyOfTask = Pick<AcceptedTask, 'tenant' | 'policyId' | 'policyVersion' | 'policy'>
