import type { GateReason } from './lane-view.ts'
import type { HeldBack } from './task.ts'

/** When a gate was shut. */
export interface Shut {
  readonly by: GateReason
  readonly since: number
  /** Infinity while it is shut. */
  readonly until: number
}

interface Waiting {
  readonly dueAt: number
  /** Its deadline. */
  readonly expiresAt: number
}

/** Which gate held a task when its deadline came, or held it last before; undefined when none did after it was due. */
export function heldAtDeadline(shut: readonly Shut[], { dueAt, expiresAt }: Waiting): HeldBack | undefined {
  if (dueAt >= expiresAt) return undefined
  const [last] = shut
    .filter(({ since, until }) => since <= expiresAt && until > dueAt)
    .toSorted(
      (one, other) => Math.min(other.until, expiresAt) - Math.min(one.until, expiresAt) || other.since - one.since,
    )
  return last && { by: last.by, since: dueAt }
}
