import type { NewTask } from '../../task/accept.ts'
import { fullForCallback, fullScope, type FullScope } from '../../task/backlog.ts'
import { laneOfCallback } from '../../task/callback.ts'
import type { BacklogLimits, Enqueued } from '../task-store.ts'
import type { BodyBook } from './body-book.ts'
import type { Book, Entry } from './book.ts'
import type { HintBoard } from './hint-board.ts'

interface Books {
  readonly book: Book
  readonly bodies: BodyBook
  readonly hints: HintBoard
}

export function enqueue({ book, bodies, hints }: Books, task: NewTask, limits: BacklogLimits, now: number): Enqueued {
  // By id too: a batch whose answer was lost is sent again as it was.
  const present = book.findByKey(task.tenant, task.idempotencyKey) ?? book.find(task.taskId)
  if (present !== undefined)
    return isSameRequest(present, task)
      ? { kind: 'existing', task: present.task }
      : { kind: 'conflict', taskId: present.task.taskId }

  const scope = fullFor(book, task, limits)
  if (scope !== undefined) return { kind: 'full', scope }
  if (task.request.storedBody === undefined) {
    hints.note(book.add(task))
    return { kind: 'created' }
  }
  const attached = bodies.attach(task, limits.bodyBytes ?? Infinity, now)
  if (attached.kind === 'unknown') return { kind: 'body-unknown' }
  if (attached.kind === 'full') return { kind: 'full', scope: 'bodies' }
  hints.note(book.add(task))
  const { leftLocation } = attached
  return { kind: 'created', ...(leftLocation !== undefined && { leftLocation }) }
}

/** What a task that is to wait finds no room in, for itself or for its end. */
export function fullFor(
  book: Book,
  { callbackUrl, ...task }: Pick<NewTask, 'tenant' | 'destination' | 'callbackUrl'>,
  limits: BacklogLimits,
): FullScope | undefined {
  const scope = fullScope(book.waitingBeside(task), limits)
  if (scope !== undefined || callbackUrl === undefined) return scope
  return fullForCallback(book.waitingBeside(laneOfCallback({ ...task, callbackUrl })), limits)
}

function isSameRequest({ task: { tenant, idempotencyKey }, requestHash }: Entry, task: NewTask): boolean {
  return tenant === task.tenant && idempotencyKey === task.idempotencyKey && requestHash === task.requestHash
}
