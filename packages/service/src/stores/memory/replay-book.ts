import { countChange, countMoved, NO_COUNTS, type ReplayCounts } from '../../task/replay/counts.ts'
import type { Task } from '../../task/task.ts'

/** What became of the tasks that each replay brought back. */
export class ReplayBook {
  readonly #counts = new Map<string, ReplayCounts>()

  countsOf(replayId: string): ReplayCounts {
    return this.#counts.get(replayId) ?? NO_COUNTS
  }

  count(before: Task, after: Task): void {
    const { replayId, attemptNumber, generation } = after.progress
    if (replayId === undefined) return
    if (generation > before.progress.generation)
      return void this.#counts.set(replayId, countMoved(this.countsOf(replayId)))
    const counts = this.#counts.get(replayId)
    if (counts === undefined) return
    const isFirst = attemptNumber === 1 && before.progress.attemptNumber === 0
    const firstOutcome = isFirst ? after.lastAttempt?.outcome : undefined
    const change = { from: before.state.status, status: after.state.status, attemptNumber, firstOutcome }
    this.#counts.set(replayId, countChange(counts, change))
  }

  forget(replayId: string): void {
    this.#counts.delete(replayId)
  }
}
