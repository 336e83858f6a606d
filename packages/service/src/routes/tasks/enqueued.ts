import type { Random } from '@secondwind/resilience'
import type { Enqueued } from '../../stores/store.ts'
import type { NewTask } from '../../task/accept.ts'
import type { FullScope } from '../../task/backlog.ts'
import { destinationOf } from '../../task/lane.ts'
import type { Task } from '../../task/task.ts'
import { comeBackAfter, Refusal } from '../answers/refusal.ts'
import type { Or, TakenTask } from './enqueue-tasks.ts'
import { asCreated } from './task-view.ts'

/** By then a full backlog has room again, or it is worth asking why not. */
const FULL_WAIT_MS = 10_000

/** What became of a task that the store was given. */
export function asTaken(task: NewTask, enqueued: Enqueued): Or<TakenTask> {
  switch (enqueued.kind) {
    case 'created':
      return { task: asCreated(task), isNew: true }
    case 'existing':
      return { task: enqueued.task, isNew: false }
    case 'conflict':
      return new Refusal('idempotency-conflict', {
        detail: `The key ${task.idempotencyKey} belongs to a task that was asked for with another request: use another key, or send the same request.`,
        taskId: enqueued.taskId,
      })
  }
}

/** A new task has no room to wait. */
export function noRoom(scope: FullScope, task: NewTask, random: Random): Refusal {
  return backlogFull(sayFull(scope, task), random)
}

/** A dead letter waits like any other task when it comes back. */
export function noRoomToReplay({ taskId, destination, callbackUrl }: Task, random: Random): Refusal {
  const where = callbackUrl === undefined ? destination : `${destination} or ${destinationOf(new URL(callbackUrl))}`
  const say = `${taskId} has stayed a dead letter: so many tasks wait for ${where}, or over all destinations, or for so many destinations, that there is no room for it.`
  return backlogFull(say, random)
}

function backlogFull(detail: string, random: Random): Refusal {
  return new Refusal('backlog-full', { detail, headers: comeBackAfter(FULL_WAIT_MS, random()) })
}

function sayFull(scope: FullScope, { destination, callbackUrl = destination }: NewTask): string {
  switch (scope) {
    case 'lane':
      return `As many tasks wait for ${destination} as may be.`
    case 'share':
      return `So many tasks wait for ${destination}, or over all destinations, that the room left is kept for others.`
    case 'total':
      return 'As many tasks wait as may be, over all destinations and tenants.'
    case 'lanes':
      return `As many destinations have tasks waiting as may, so that none can wait for ${destination}: come back when those of another have ended.`
    case 'callback':
      return `So many tasks wait for ${destinationOf(new URL(callbackUrl))} that the end of another could not be told there, or as many destinations have tasks waiting as may: send it without callbackUrl, or later.`
  }
}
