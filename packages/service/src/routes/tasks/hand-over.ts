/** Hands tasks over to the store: room in the backlog first, then large bodies to their place, then the tasks. Says what came of each. */
import assert from 'node:assert/strict'
import { nextTurn, type Random } from '@secondwind/resilience'
import type { NewTask } from '../../task/accept.ts'
import type { Task } from '../../task/task.ts'
import { comeBackAfter, Refusal } from '../answers/refusal.ts'
import type { ApiContext, ApiLimits } from '../context.ts'
import type { BodyIndex, BodyName, Enqueued } from '../../stores/store.ts'
import type { FullScope } from '../../task/backlog.ts'
import { destinationOf } from '../../task/lane.ts'
import { asCreated } from './task-view.ts'
import { keepBody, type BodyPlaces } from '../../bodies/keep-body.ts'
import { neededForTask } from '../../bodies/needed-until.ts'
import { bodiesFull, sayUnknownBody } from '../bodies/body-refusals.ts'

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

/** By then a full backlog has room again, or it is worth asking why not. */
const FULL_WAIT_MS = 10_000

/** What became of a task that the store was given. */
function asTaken(task: NewTask, enqueued: Enqueued): Or<TakenTask> {
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
function noRoom(scope: FullScope, task: NewTask, random: Random): Refusal {
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

/** A larger one would be read and copied with every claim, and is better off in a file of its own. */
const LARGEST_INLINE_BYTES = 65_536

interface Ports extends BodyPlaces {
  readonly store: Pick<BodyIndex, 'bodies' | 'putBody'>
  readonly limits: Pick<ApiLimits, 'backlog'>
  readonly random: Random
}

/**
 * The last step before the store takes tasks in: their large bodies are kept for as long as the tasks need them. A refusal takes
 * the place of a task that cannot have its body.
 */
export async function withBodiesKept(tasks: readonly NewTask[], ports: Ports): Promise<(NewTask | Refusal)[]> {
  const known = await keepNamed(tasks, ports)
  const kept: (NewTask | Refusal)[] = []
  for (const task of tasks) {
    const { body, storedBody } = task.request
    if (storedBody !== undefined && !known.has(keyOf(task.tenant, storedBody.bodyRef)))
      kept.push(unknownBody(storedBody.bodyRef))
    else if (body !== null && body.length > LARGEST_INLINE_BYTES) kept.push(await keptApart(task, body, ports))
    else kept.push(task)
  }
  return kept
}

/** All bodies that the tasks name, in one call: each is kept as long as the task with the latest deadline needs its own. */
async function keepNamed(tasks: readonly NewTask[], { store }: Ports): Promise<ReadonlySet<string>> {
  const names = new Map<string, BodyName>()
  let neededUntil = 0
  for (const { tenant, request, progress } of tasks) {
    if (request.storedBody === undefined) continue
    const { bodyRef } = request.storedBody
    names.set(keyOf(tenant, bodyRef), { tenant, bodyRef })
    neededUntil = Math.max(neededUntil, neededForTask(progress))
  }
  const records = names.size === 0 ? [] : await store.bodies([...names.values()], neededUntil)
  return new Set(records.map(({ tenant, bodyRef }) => keyOf(tenant, bodyRef)))
}

function keyOf(tenant: string, bodyRef: string): string {
  return `${tenant}/${bodyRef}`
}

function unknownBody(bodyRef: string): Refusal {
  return new Refusal('body-not-found', { status: 422, detail: sayUnknownBody(bodyRef) })
}

async function keptApart(task: NewTask, bytes: Uint8Array, ports: Ports): Promise<NewTask | Refusal> {
  const { tenant, request, progress } = task
  const put = await keepBody(ports, {
    tenant,
    bytes: [bytes],
    mostBytes: bytes.length,
    contentType: request.headers['content-type'] ?? 'application/octet-stream',
    neededUntil: neededForTask(progress),
    mostBytesOfTenant: ports.limits.backlog.bodyBytes ?? Infinity,
  })
  if (put.kind === 'full') return bodiesFull(ports.random)
  const { bodyRef, sizeBytes } = put.record
  return { ...task, request: { ...request, body: null, storedBody: { bodyRef, sizeBytes } } }
}
