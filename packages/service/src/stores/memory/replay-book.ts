import { cursorOf } from '../cursor.ts'
import { hasStatus, listedRecord } from '../replays.ts'
import type { ListedReplay, Page, ReplaysPage } from '../task-store.ts'
import { countChange, countMoved, NO_COUNTS, type ReplayCounts } from '../../task/replay/counts.ts'
import type { Task } from '../../task/task.ts'
import { pageFrom } from './page.ts'
import type { RecordBook } from './record-book.ts'

const REPLAYS = cursorOf('replays', 'string')

/** What became of the tasks that each replay brought back. */
export class ReplayBook {
  readonly #counts = new Map<string, ReplayCounts>()

  countsOf(replayId: string): ReplayCounts {
    return this.#counts.get(replayId) ?? NO_COUNTS
  }

  list(records: RecordBook, { tenant, status, ...page }: ReplaysPage): Page<ListedReplay> {
    const { items } = records.list({ kind: 'replay', tenant, limit: Infinity })
    const wanted = items.toReversed().filter(record => hasStatus(record, status))
    const found = pageFrom(wanted, page, REPLAYS, {
      placeOf: ({ id }): [string] => [id],
      isShown: ({ id }, [last]) => id >= last,
    })
    const counted = found.items.map(record => ({ record: listedRecord(record), counts: this.countsOf(record.id) }))
    return { ...found, items: counted }
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
