import type { WriteRecord } from '../stores/operator-records.ts'
import type { TaskStore } from '../stores/task-store.ts'
import type { Settlement } from '../task/settle.ts'
import type { DiskSpace } from './disk-space.ts'
import { bytesOfClaim, bytesOfEnds, bytesOfNew, bytesOfOrder, ROW_BYTES } from './row-bytes.ts'

/**
 * The store as those see it who do what becomes of tasks by itself, and would do it until the disk is full. Where that is near, what was
 * answered is not kept, then no replay goes on, and at last nothing more is begun; what is under way is settled in any case.
 */
export function sparing(store: TaskStore, space: DiskSpace): TaskStore {
  return {
    ...store,
    claim: ask => space.within('attempts', bytesOfClaim(ask), () => store.claim(ask)),
    expire: ask => space.within('attempts', ask.limit * ROW_BYTES, () => store.expire(ask)),
    recall: ask => space.within('attempts', ask.tasks.length * ROW_BYTES, () => store.recall(ask)),
    // Callbacks: a task's end brings another one.
    enqueue: (tasks, limits) => space.within('attempts', bytesOfNew(tasks), () => store.enqueue(tasks, limits)),
    replayMany: (asks, limits) => space.within('orders', asks.length * ROW_BYTES, () => store.replayMany(asks, limits)),
    async settle(settlements) {
      // Without a wait where there is none to be made: a claim that is asked for right behind must not overtake it.
      const taking = space.takeIfFree('answers', bytesOfEnds(settlements))
      const keepsAnswers = taking instanceof Promise ? await taking : taking
      const kept = keepsAnswers === undefined ? settlements.map(withoutAnswer) : settlements
      const written = keepsAnswers ?? space.take(bytesOfEnds(kept))
      try {
        return await store.settle(kept)
      } finally {
        written()
      }
    },
  }
}

/**
 * The store as tenants see it who order something: each order leaves a line, and nobody counts them. They take their room when they are
 * about to be written and not while they wait for anything else, for what one of them holds, all others lack.
 */
export function sparingOrders(store: TaskStore, space: Pick<DiskSpace, 'within'>): TaskStore {
  const within = <Result>(ask: object | undefined, write: () => Promise<Result>): Promise<Result> =>
    space.within('orders', bytesOfOrder(ask), write)
  return {
    ...store,
    cancel: (taskId, ask) => within(ask, () => store.cancel(taskId, ask)),
    attemptNow: (taskId, ask) => within(ask, () => store.attemptNow(taskId, ask)),
    replay: ask => within(ask, () => store.replay(ask)),
    putPolicy: ask => within(ask, () => store.putPolicy(ask)),
    // Whoever shuts a door is kept from it last; but a tenant has thousands of doors, each shut with a long reason.
    writeRecord: ask =>
      space.within(shutsDoor(ask) ? 'revocations' : 'orders', bytesOfOrder(ask), () => store.writeRecord(ask)),
  }
}

function shutsDoor({ kind, document }: WriteRecord): boolean {
  return document === null && (kind === 'key' || kind === 'secret')
}

function withoutAnswer(settlement: Settlement): Settlement {
  if (settlement.attempt?.response === undefined) return settlement
  const { response: _, ...attempt } = settlement.attempt
  return { ...settlement, attempt }
}
