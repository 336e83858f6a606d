import type { LaneInput } from '@secondwind/resilience/rules'
import type { AttemptEnd, Hold } from './task.ts'

/** What there is to say of a destination. Its gates are known to the instance that serves it. */
export interface Destination {
  readonly destination: string
  /** The tenant that it belongs to; absent where several have it and an operator names none, and where none has. */
  readonly tenant?: string
  /** The name that it was given. */
  readonly name?: string
  readonly breaker?: 'closed' | 'open' | 'half-open' | 'forced-open' | 'forced-closed'
  /** What keeps its tasks from starting now. */
  readonly hold?: Hold
  /** The gate that holds attempts of one kind, while others flow. A probe passes it at `until`. */
  readonly kindHolds?: PerKind<Hold>
  /** Requests that may be under way at once; absent when there is no limit. */
  readonly limit?: number
  /**
   * Credit: attempts of each kind that may be sent before the destination answers. An attempt takes one; an answer adds some
   * to every kind; a kind without credit sends one attempt at a time, a probe.
   */
  readonly credit?: Required<PerKind<number>>
  /** When the next probe is sent, of any kind whose credit is used up. */
  readonly nextProbeAt?: number
  /** Retries that its budget lets start now; absent when it has none. */
  readonly budgetBalance?: number
  readonly inFlight: number
  /** Tasks that wait. */
  readonly backlog: number
  readonly oldestDueAt?: number
  readonly succeeded: number
  readonly exhausted: number
  readonly cancelled: number
  readonly attempts: number
  /** Of all attempts that there ever were, those that were not the first of their task. */
  readonly retryShare: number
  /** Attempts for each first attempt. */
  readonly amplification?: number
  /** What was sent to it lately, by the instance that was asked; absent when it sent nothing. */
  readonly recent?: RecentAttempts
  /** The newest attempt that did not succeed, of those that the instance that was asked has made. */
  readonly lastFailure?: LastFailure
  /** The caller's own settings for it; absent where there are none. */
  readonly settings?: DestinationSettings & {
    /** Grows with every change. */
    readonly version: number
  }
  /** The settings that an operator has made for every tenant: they hold beside `settings`. */
  readonly operatorSettings?: DestinationSettings
  /** What its tenant has set for itself, as an operator sees it who names none. */
  readonly tenantSettings?: DestinationSettings
  /**
   * Where several tenants have it and an operator names none: each by itself, with gates of its own, those with most waiting
   * first and at most a hundred. The numbers above are of all together.
   */
  readonly tenants?: readonly DestinationOfTenant[]
}

/** By how often their task was tried: never, one to three times, more often. */
export interface PerKind<Value> {
  readonly first?: Value
  readonly retry?: Value
  readonly late?: Value
}

export type DestinationOfTenant = Omit<
  Destination,
  'destination' | 'name' | 'settings' | 'operatorSettings' | 'tenants'
>

export interface DestinationFilter {
  /** Those that the caller has settings for, with or without a task. */
  readonly hasSettings?: true
}

export interface RecentAttempts {
  /** How long ago the oldest of them may have ended: a minute. */
  readonly windowMs: number
  readonly attempts: number
  readonly retryShare: number
  readonly amplification?: number
}

export interface LastFailure extends AttemptEnd {
  readonly at: number
  readonly taskId: string
  readonly attemptNumber: number
}

export interface DestinationSettings {
  readonly limits?: DestinationLimits
  /** Who set the limits. */
  readonly limitsBy?: SetBy
  readonly paused?: SetBy & ComingBack & { readonly until?: number }
  /** How the last pause was lifted: `limit` grows from one since then. */
  readonly resumed?: SetBy & ComingBack & StopRule
  /** New tasks for it are refused. */
  readonly draining?: SetBy
  readonly forced?: SetBy & { readonly breaker: 'open' | 'closed' | 'auto' }
}

export interface SetBy {
  readonly since: number
  /** The id of a key, `local`, or `system`: the service itself. */
  readonly by: string
  /** An operator has set it, and only an operator can take it back. */
  readonly isByOperator?: true
  readonly reason?: string
}

/** The way back of what was held. */
export interface ComingBack {
  /** The whole limit is there after so long; left out, it doubles every two seconds. */
  readonly rampMs?: number
}

/** While a destination that was resumed comes back: too many failures, and it is paused again. */
export interface StopRule {
  /** From 0 to 1: pause again when such a part of the last attempts failed. */
  readonly stopOnFailureRate?: number
  /** Which attempts are the last: 50 unless told. */
  readonly overLast?: number
}

/** Instead of what every destination has. */
export interface DestinationLimits extends Pick<LaneInput, 'credit' | 'budget' | 'rateLimit'> {
  /** Requests under way at once. */
  readonly concurrency?: number
}

/** Said with a change. */
export interface Why {
  /** For the audit, and for those whose tasks are held. */
  readonly reason?: string
}

export interface DestinationSettingsInput extends Why {
  readonly name?: string
  readonly limits?: DestinationLimits
  /** Of the settings that were read: refused with `version-changed` if they are others now. */
  readonly version?: number
}

export interface PauseInput extends Why, ComingBack {
  /** It ends by itself: after so long, or at an instant; then it comes back as is said beside it. */
  readonly forMs?: number
  readonly until?: number
}

export interface ResumeInput extends Why, ComingBack, StopRule {}

/** Sets its breaker by hand; `auto` lets it open and close by itself again. */
export interface ForceInput extends Why {
  readonly breaker: 'open' | 'closed' | 'auto'
}
