import type { Caller } from '../../access/caller.ts'
import type { BodyStore } from '../../bodies/body-store.ts'
import type { Enqueued } from '../../stores/task-store.ts'
import type { NewTask } from '../../task/accept.ts'
import type { ApiContext } from '../context.ts'

/** What is larger is read and copied with every claim, and is better off in a file of its own. */
const LARGEST_INLINE_BYTES = 65_536

/** A task as it was given to the store, and what became of it. */
export interface EnqueuedTask {
  readonly task: NewTask
  readonly enqueued: Enqueued
}

/** Hands tasks to the store; large bodies are on the disk before. */
export async function enqueueTasks(
  tasks: readonly NewTask[],
  caller: Caller,
  { floor, store, bodies, limits }: ApiContext,
): Promise<EnqueuedTask[]> {
  await floor?.admit()
  const kept = tasks.some(isLarge) ? await keepApart(tasks, bodies) : tasks
  const { results } = await store.enqueue(kept, limits.backlog)
  const ends = kept.map((task, at) => ({ task, enqueued: results[at]! }))
  for (const end of ends) {
    const location = unneeded(end)
    // What cannot be removed now is found by the sweep.
    if (location !== undefined) await bodies.remove(location).catch(() => undefined)
  }
  return ends
}

function isLarge({ request: { body } }: NewTask): boolean {
  return body !== null && body.length > LARGEST_INLINE_BYTES
}

async function keepApart(tasks: readonly NewTask[], bodies: BodyStore): Promise<NewTask[]> {
  const kept: NewTask[] = []
  for (const task of tasks) kept.push(isLarge(task) ? await keptApart(task, bodies) : task)
  return kept
}

async function keptApart(task: NewTask, bodies: BodyStore): Promise<NewTask> {
  const { request } = task
  const { location, ...storedBody } = await bodies.put([request.body!], request.body!.length)
  const contentType = request.headers['content-type'] ?? 'application/octet-stream'
  return { ...task, request: { ...request, body: null, storedBody }, upload: { location, contentType } }
}

/** A file that no task has come to need. */
function unneeded({ task, enqueued }: EnqueuedTask): string | undefined {
  return enqueued.kind === 'created' ? enqueued.leftLocation : task.upload?.location
}
