import type { Random } from '@secondwind/resilience'
import type { Enqueued } from '../../stores/task-store.ts'
import type { NewTask } from '../../task/accept.ts'
import type { FullScope } from '../../task/backlog.ts'
import { destinationOf } from '../../task/destination.ts'
import type { Task } from '../../task/task.ts'
import { comeBackAfter, Refusal } from '../answers/refusal.ts'
import { asCreated } from './task-view.ts'

/** By then a full backlog has room again, or it is worth asking why not. */
const FULL_WAIT_MS = 10_000

/** What became of a task that the store was given; it throws the reason why not. */
export function taken(task: NewTask, enqueued: Enqueued, random: Random): { task: Task; isNew: boolean } {
  switch (enqueued.kind) {
    case 'created':
      return { task: asCreated(task), isNew: true }
    case 'existing':
      return { task: enqueued.task, isNew: false }
    case 'conflict':
      throw new Refusal('idempotency-conflict', {
        detail: `The key ${task.idempotencyKey} belongs to a task that was asked for with another request: use another key, or send the same request.`,
        taskId: enqueued.taskId,
      })
    case 'full':
      throw enqueued.scope === 'bodies' ? refusalOfFull(random) : backlogFull(sayFull(enqueued.scope, task), random)
    case 'body-unknown':
      throw new Refusal('body-not-found', { status: 422, detail: sayUnknownBody(task.request.storedBody!.bodyRef) })
  }
}

/** A dead letter that somebody wants back waits as any other task does. */
export function noRoomFor({ taskId, destination, callbackUrl }: Task, random: Random): Refusal {
  const where = callbackUrl === undefined ? destination : `${destination} or ${destinationOf(new URL(callbackUrl))}`
  const say = `${taskId} has stayed a dead letter: so many tasks wait for ${where}, or over all destinations, or for so many destinations, that there is no room for it.`
  return backlogFull(say, random)
}

function backlogFull(detail: string, random: Random): Refusal {
  return new Refusal('backlog-full', { detail, headers: comeBackAfter(FULL_WAIT_MS, random()) })
}

function sayFull(scope: FullScope, { destination, callbackUrl }: NewTask): string {
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
      return `So many tasks wait for ${destinationOf(new URL(callbackUrl!))} that the end of another could not be told there, or as many destinations have tasks waiting as may: send it without callbackUrl, or later.`
  }
}

const KEPT_FULL =
  'The large bodies that are kept have as many bytes together as they may: those that no task needs go after a day.'

export function refusalOfFull(random: Random): Refusal {
  return new Refusal('bodies-full', { detail: KEPT_FULL, headers: comeBackAfter(FULL_WAIT_MS, random()) })
}

export function sayUnknownBody(bodyRef: string): string {
  return `There is no body ${bodyRef}: upload it first.`
}
