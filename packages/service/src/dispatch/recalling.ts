import { laneRecall } from '@secondwind/resilience/rules'
import type { DispatchPorts } from './ports.ts'
import type { ServedLane } from './served-lane.ts'
import type { Settling } from './settling.ts'

interface RecallingOptions {
  readonly ports: DispatchPorts
  readonly settling: Settling
  readonly touch: (lane: ServedLane) => void
}

/** Makes tasks due that failed while their destination was silent. Without an answer of the store they keep their own schedule. */
export class Recalling {
  readonly #options: RecallingOptions

  constructor(options: RecallingOptions) {
    this.#options = options
  }

  async recall(lane: ServedLane): Promise<void> {
    const { ports, settling, touch } = this.#options
    const { calls, random, store, time } = ports
    const { failed, partition } = lane
    lane.failed = new Map()
    const now = time.storeNow()
    const tasks = [...failed].flatMap(([taskId, { dueAt }]) => {
      const at = laneRecall.recallAt(now, random())
      return at < dueAt ? [{ taskId, dueAt: at }] : []
    })
    if (tasks.length === 0) return
    // Their last attempts are settled first: only a task that waits can be recalled.
    settling.flush()
    const ask = { partition: partition.number, steward: partition.token, tasks }
    const answer = await calls.ask(() => store.recall(ask))
    if (answer === undefined || lane.partition.phase !== 'serving') return
    const recalled = new Set(answer.recalled)
    lane.recalled = recalled
    for (const { taskId, dueAt } of tasks) {
      const queue = failed.get(taskId)?.queue
      if (queue !== undefined && recalled.has(taskId)) lane.hint(queue, dueAt)
    }
    touch(lane)
  }
}
