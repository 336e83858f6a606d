import { nextTurn } from '@secondwind/resilience'
import assert from 'node:assert/strict'
import type { NewTask } from '../../task/accept.ts'
import type { Task } from '../../task/task.ts'
import { Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { asTaken, noRoom } from './enqueued.ts'
import { withBodiesKept } from './large-bodies.ts'

/** A refusal takes the place of the task that it refuses. */
export type Or<Result> = Result | Refusal

export interface TakenTask {
  readonly task: Task
  /** It was not in the store before. */
  readonly isNew: boolean
}

/** Hands tasks to the store: those that find room, once their large bodies are on the disk. */
export async function enqueueTasks(asked: readonly Or<NewTask>[], context: ApiContext): Promise<Or<TakenTask>[]> {
  const roomy = await eachLeft(asked, tasks => findRoom(tasks, context))
  const kept = await eachLeft(roomy, tasks => withBodiesKept(tasks, context))
  return eachLeft(kept, async tasks => {
    const { results } = await context.store.enqueue(tasks)
    return tasks.map((task, at) => asTaken(task, answered(results[at])))
  })
}

/** Does a step with the tasks that are not refused yet, and keeps the order. */
async function eachLeft<Before, After>(
  ends: readonly Or<Before>[],
  step: (left: readonly Before[]) => Promise<readonly Or<After>[]>,
): Promise<Or<After>[]> {
  const left = ends.filter((end): end is Exclude<typeof end, Refusal> => !(end instanceof Refusal))
  const results = left.length === 0 ? [] : await step(left)
  let at = 0
  return ends.map(end => (end instanceof Refusal ? end : answered(results[at++])))
}

function answered<Result>(result: Result | undefined): Result {
  assert(result !== undefined, 'each task is answered for itself')
  return result
}

/** Keys are looked for so many at a time: then all others have their turn. */
const LOOKS_IN_A_TURN = 20

async function findRoom(tasks: readonly NewTask[], context: ApiContext): Promise<Or<NewTask>[]> {
  const { floor, backlog, store, random } = context
  await floor?.admit()
  const found: Or<NewTask>[] = []
  let looks = 0
  for (const task of tasks) {
    const scope = backlog.verdict(task)
    if (scope === undefined) backlog.taken(task)
    else if (++looks % LOOKS_IN_A_TURN === 0) await new Promise<void>(nextTurn)
    found.push(scope === undefined || (await isThere(task, store)) ? task : noRoom(scope, task, random))
  }
  return found
}

/** A full backlog is no reason to forget the tasks that it has: the same request again finds its task. */
async function isThere({ keyGiven, tenant, idempotencyKey }: NewTask, store: ApiContext['store']): Promise<boolean> {
  if (!keyGiven) return false
  const { items } = await store.list({ filter: { tenant, idempotencyKey }, order: 'newest-first', limit: 1 })
  return items.length > 0
}
