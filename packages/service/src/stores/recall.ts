/** Waiting tasks that shall be due earlier: their destination answers again. */
export interface Recall {
  readonly partition: number
  readonly steward: string
  /** No more than `MOST_RECALLED`. */
  readonly tasks: readonly { readonly taskId: string; readonly dueAt: number }[]
}

/** The work of a call is bounded; a steward remembers no more of a lane. */
const MOST_RECALLED = 200

/** Throws where a steward asks for more: a fault of its own. */
export function assertFew({ tasks }: Recall): void {
  if (tasks.length > MOST_RECALLED)
    throw new Error(`a recall names ${tasks.length} tasks, and at most ${MOST_RECALLED}`)
}
