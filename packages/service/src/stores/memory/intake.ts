import type { NewTask } from '../../task/accept.ts'
import { laneKey } from '../../task/lane.ts'
import type { BacklogLimits, Enqueued } from '../task-store.ts'
import type { Book, Entry } from './book.ts'
import type { HintBoard } from './hint-board.ts'

export function enqueue(book: Book, hints: HintBoard, task: NewTask, limits: BacklogLimits): Enqueued {
  // By id too: a batch whose answer was lost is sent again as it was.
  const present = book.findByKey(task.tenant, task.idempotencyKey) ?? book.find(task.taskId)
  if (present !== undefined)
    return isSameRequest(present, task)
      ? { kind: 'existing', task: present.task }
      : { kind: 'conflict', taskId: present.task.taskId }

  if ((book.lanes.get(laneKey(task))?.PENDING ?? 0) >= limits.perLane) return { kind: 'full', scope: 'lane' }
  if (book.total.PENDING >= limits.total) return { kind: 'full', scope: 'total' }
  hints.note(book.add(task))
  return { kind: 'created' }
}

function isSameRequest({ task: { tenant, idempotencyKey }, requestHash }: Entry, task: NewTask): boolean {
  return tenant === task.tenant && idempotencyKey === task.idempotencyKey && requestHash === task.requestHash
}
