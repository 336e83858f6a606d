import type { ComingBack } from './destination-settings.ts'
import type { Lane } from './lane.ts'
import type { QueueKind } from './task.ts'

/**
 * One throw of the kill switch. It is in force from its writing until somebody ends it, or until its own time is over;
 * what it held comes back by a ramp from that instant on. Nothing is dropped, and no deadline moves.
 */
export interface Control extends ComingBack {
  readonly controlId: string
  /** Whose policies and destinations its scope speaks of; absent: everybody's. */
  readonly tenant?: string
  readonly level: ControlLevel
  readonly scope: ControlScope
  /** Why, in words for whoever is held. */
  readonly reason: string
  readonly createdAt: number
  readonly createdBy: string
  /** Whoever runs the service has thrown it: no tenant lifts it. */
  readonly isByOperator: boolean
  readonly expiresAt?: number
  readonly endedAt?: number
  readonly endedBy?: string
}

export type ControlLevel = (typeof CONTROL_LEVELS)[number]

/** Each does what it says and nothing else: whoever closes the intake to save the disk wants the backlog to shrink. */
export const CONTROL_LEVELS = [
  'retries-off', // first attempts go out, retries wait
  'dispatch-off', // nothing goes out, tasks are taken in
  'intake-off', // no tasks are taken in, what waits goes out
] as const

export const SCOPE_KINDS: readonly ControlScope['kind'][] = ['all', 'tenant', 'policy', 'destination']

export type ControlScope =
  | { readonly kind: 'all' }
  | { readonly kind: 'tenant'; readonly tenant: string }
  | { readonly kind: 'policy'; readonly policyId: string }
  | { readonly kind: 'destination'; readonly destination: string }

/** When it is, or was, over; Infinity when only a word ends it. */
export function endOf({ expiresAt = Infinity, endedAt = Infinity }: Control): number {
  return Math.min(expiresAt, endedAt)
}

export function isInForce(control: Control, now: number): boolean {
  return now < endOf(control)
}

/** Whether anything of a lane is in its scope. */
export function reaches({ scope, tenant }: Control, lane: Lane): boolean {
  switch (scope.kind) {
    case 'all':
      return true
    case 'tenant':
      return scope.tenant === lane.tenant
    case 'policy':
      return isOf(tenant, lane)
    case 'destination':
      return isOf(tenant, lane) && scope.destination === lane.destination
  }
}

function isOf(tenant: string | undefined, lane: Lane): boolean {
  return tenant === undefined || tenant === lane.tenant
}

/** Which queues of a lane are meant; with neither field, all of them. */
export interface QueueScope {
  /** All that was tried before, however often. */
  readonly kind?: Extract<QueueKind, 'retry'>
  readonly policyId?: string
}

export function queuesOf({ level, scope }: Control): QueueScope {
  return {
    ...(level === 'retries-off' && { kind: 'retry' }),
    ...(scope.kind === 'policy' && { policyId: scope.policyId }),
  }
}

export function isInScope(scope: QueueScope, queue: { readonly kind: QueueKind; readonly policyId: string }): boolean {
  return (scope.kind === undefined || queue.kind !== 'first') && (scope.policyId ?? queue.policyId) === queue.policyId
}
