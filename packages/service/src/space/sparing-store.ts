import type { TaskStore } from '../stores/task-store.ts'
import type { Settlement } from '../task/settle.ts'
import type { DiskSpace } from './disk-space.ts'
import { bytesOfEnds, bytesOfNew, ROW_BYTES } from './row-bytes.ts'

/**
 * The store as those see it who do what becomes of tasks by itself, and would do it until the disk is full. Where that is near, what was
 * answered is not kept, then no replay goes on, and at last nothing more is begun; what is under way is settled in any case.
 */
export function sparing(store: TaskStore, space: DiskSpace): TaskStore {
  return {
    ...store,
    claim: ask => space.within('attempts', 0, () => store.claim(ask)),
    expire: ask => space.within('attempts', 0, () => store.expire(ask)),
    // Callbacks: a task's end brings another one.
    enqueue: (tasks, limits) => space.within('attempts', bytesOfNew(tasks), () => store.enqueue(tasks, limits)),
    replayMany: (asks, limits) => space.within('orders', asks.length * ROW_BYTES, () => store.replayMany(asks, limits)),
    async settle(settlements) {
      const written = await space.takeIfFree('answers', bytesOfEnds(settlements))
      try {
        return await store.settle(written === undefined ? settlements.map(withoutAnswer) : settlements)
      } finally {
        written?.()
      }
    },
  }
}

function withoutAnswer(settlement: Settlement): Settlement {
  if (settlement.attempt?.response === undefined) return settlement
  const { response: _, ...attempt } = settlement.attempt
  return { ...settlement, attempt }
}
