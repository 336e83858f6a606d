/** What somebody knows about a call before it has a policy. */
export interface Answers {
  readonly operation: 'read' | 'write'
  /** Doing it twice is the same as doing it once: by its nature, or by a key. */
  readonly idempotent: boolean
  /** A person waits for it. */
  readonly userFacing: boolean
  /** The dependency limits how often it may be called. */
  readonly rateLimited: boolean
  /** A failure costs more than a wait. */
  readonly critical: boolean
  readonly otherRegion: boolean
  /** How long the whole operation may take; absent: as usual for its kind. */
  readonly latencyBudgetMs?: number
  /** Calls a second on a usual day, and those that the dependency can serve; absent: unknown. */
  readonly capacity?: { readonly loadPerSecond: number; readonly capacityPerSecond: number }
}

/** One field of a policy, and why it is what it is. */
export interface Reason {
  /** Where: a path such as `retry.maxAttempts`. */
  readonly at: string
  readonly is: number | string
  readonly because: string
}

export function isRepeatable({ operation, idempotent }: Answers): boolean {
  return operation === 'read' || idempotent
}
