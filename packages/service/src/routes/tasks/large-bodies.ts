import type { Random } from '@secondwind/resilience'
import { keepBody, type BodyPlaces } from '../../bodies/keep-body.ts'
import { neededForTask } from '../../bodies/needed-until.ts'
import type { BodyIndex, BodyName } from '../../stores/store.ts'
import type { NewTask } from '../../task/accept.ts'
import { Refusal } from '../answers/refusal.ts'
import { bodiesFull, sayUnknownBody } from '../bodies/body-refusals.ts'
import type { ApiLimits } from '../context.ts'

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
