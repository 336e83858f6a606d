import { causeIdOf } from '../cause-id.ts'
import type { Task, TaskState } from '../../task/task.ts'
import type { Cause, CausesPage } from '../task-store.ts'

type Dead = Extract<TaskState, { readonly status: 'EXHAUSTED' }>

/** A cause, and all who died of it. */
interface Grave extends Omit<Cause, 'count' | 'sampleTaskIds'> {
  lastAt: number
  readonly taskIds: Set<string>
}

const SAMPLES = 3

/** Dead letters by cause. A cause is born with its first and ends with its last. */
export class CauseBook {
  readonly #graves = new Map<string, Grave>()

  add(task: Task, { reason, held, endedAt }: Dead): void {
    const causeId = causeIdOf({ ...task, reason, held })
    const grave = this.#graves.get(causeId)
    if (grave !== undefined) {
      grave.lastAt = Math.max(grave.lastAt, endedAt)
      grave.taskIds.add(task.taskId)
      return
    }
    const { outcome: _, ...seen } = task.lastAttempt ?? { outcome: undefined }
    const { tenant, destination, taskId } = task
    const born = { firstAt: endedAt, lastAt: endedAt, taskIds: new Set([taskId]) }
    const cause = { causeId, tenant, destination, reason, ...(held !== undefined && { heldBy: held.by }) }
    this.#graves.set(causeId, { ...cause, ...seen, ...born })
  }

  remove(task: Task, { reason, held }: Dead): void {
    const causeId = causeIdOf({ ...task, reason, held })
    const { taskIds } = this.#graves.get(causeId)!
    taskIds.delete(task.taskId)
    if (taskIds.size === 0) this.#graves.delete(causeId)
  }

  /** The most numerous first: of one tenant, and one destination, where these are named. */
  of({ tenant, destination }: Pick<CausesPage, 'tenant' | 'destination'>): Cause[] {
    return [...this.#graves.values()]
      .filter(grave => grave.tenant === (tenant ?? grave.tenant))
      .filter(grave => grave.destination === (destination ?? grave.destination))
      .map(causeIn)
      .toSorted((one, other) => other.count - one.count || (one.causeId < other.causeId ? -1 : 1))
  }
}

function causeIn(grave: Grave): Cause {
  const { taskIds, ...cause } = grave
  return { ...cause, count: taskIds.size, sampleTaskIds: [...taskIds].slice(0, SAMPLES) }
}
