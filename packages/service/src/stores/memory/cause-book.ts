import { causeIdOf } from '../cause-id.ts'
import type { Task, TaskState } from '../../task/task.ts'
import type { Cause } from '../task-store.ts'

type Dead = Extract<TaskState, { readonly status: 'EXHAUSTED' }>

/** A cause, and all who died of it. */
interface Grave extends Omit<Cause, 'count' | 'sampleTaskIds'> {
  readonly tenant: string
  lastAt: number
  readonly taskIds: Set<string>
}

const SAMPLES = 3

/** Dead letters by cause. A cause is born with its first and ends with its last. */
export class CauseBook {
  readonly #graves = new Map<string, Grave>()

  add(task: Task, { reason, endedAt }: Dead): void {
    const causeId = causeIdOf({ ...task, reason })
    const grave = this.#graves.get(causeId)
    if (grave !== undefined) {
      grave.lastAt = Math.max(grave.lastAt, endedAt)
      grave.taskIds.add(task.taskId)
      return
    }
    const { outcome: _, ...seen } = task.lastAttempt ?? { outcome: undefined }
    const { tenant, destination, taskId } = task
    const born = { firstAt: endedAt, lastAt: endedAt, taskIds: new Set([taskId]) }
    this.#graves.set(causeId, { causeId, tenant, destination, reason, ...seen, ...born })
  }

  remove(task: Task, { reason }: Dead): void {
    const causeId = causeIdOf({ ...task, reason })
    const { taskIds } = this.#graves.get(causeId)!
    taskIds.delete(task.taskId)
    if (taskIds.size === 0) this.#graves.delete(causeId)
  }

  /** A tenant's causes, the most numerous first. */
  of(tenant: string, destination?: string): Cause[] {
    return [...this.#graves.values()]
      .filter(grave => grave.tenant === tenant && (destination === undefined || grave.destination === destination))
      .map(causeIn)
      .toSorted((one, other) => other.count - one.count || (one.causeId < other.causeId ? -1 : 1))
  }
}

function causeIn(grave: Grave): Cause {
  const { tenant: _, taskIds, ...cause } = grave
  return { ...cause, count: taskIds.size, sampleTaskIds: [...taskIds].slice(0, SAMPLES) }
}
