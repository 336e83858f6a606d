import type { Task } from '../../task/task.ts'
import type { Changed, Operating, Replay } from '../task-store.ts'
import type { Book } from './book.ts'
import type { HintBoard } from './hint-board.ts'
import { fullFor } from './intake.ts'

interface Operated extends Pick<Operating, 'ifVersion'> {
  readonly taskId: string
}

export function cancel(book: Book, { taskId, ifVersion }: Operated, now: number): Changed {
  const entry = book.find(taskId)
  if (entry === undefined) return { kind: 'unknown' }
  if (isOther(entry.task, ifVersion)) return { kind: 'conflict', task: entry.task }
  const { state } = entry.task
  switch (state.status) {
    case 'PENDING':
      return changed(book.write(entry, { state: { status: 'CANCELLED', endedAt: now } }))
    case 'IN_FLIGHT':
      if (state.lease.cancelRequested) return changed(entry.task)
      return changed(book.write(entry, { state: { ...state, lease: { ...state.lease, cancelRequested: true } } }))
    case 'CANCELLED':
      return changed(entry.task)
    case 'SUCCEEDED':
    case 'EXHAUSTED':
      return { kind: 'unchanged', task: entry.task }
  }
}

export function attemptNow(book: Book, hints: HintBoard, { taskId, ifVersion }: Operated, now: number): Changed {
  const entry = book.find(taskId)
  if (entry === undefined) return { kind: 'unknown' }
  if (isOther(entry.task, ifVersion)) return { kind: 'conflict', task: entry.task }
  const { state } = entry.task
  if (state.status !== 'PENDING') return { kind: 'unchanged', task: entry.task }
  const queue = { ...state.queue, rank: 'urgent' } as const
  const task = book.write(entry, { state: { status: 'PENDING', nextAttemptAt: now, queue } })
  hints.note(entry)
  return changed(task)
}

export function replay(book: Book, hints: HintBoard, ask: Replay, now: number): Changed {
  const { taskId, generation, progress, dueAt = now, ifVersion, limits } = ask
  const entry = book.find(taskId)
  if (entry === undefined) return { kind: 'unknown' }
  if (isOther(entry.task, ifVersion)) return { kind: 'conflict', task: entry.task }
  const { state, policyId, progress: present } = entry.task
  if (state.status !== 'EXHAUSTED' || present.generation !== generation) return { kind: 'unchanged', task: entry.task }
  if (limits !== undefined && fullFor(book, entry.task, limits) !== undefined) return { kind: 'full', task: entry.task }
  const queue = { policyId, kind: 'first', rank: 'low' } as const
  const nextAttemptAt = Math.max(now, dueAt)
  const task = book.write(entry, { state: { status: 'PENDING', nextAttemptAt, queue }, progress })
  hints.note(entry)
  return changed(task)
}

function isOther({ version }: Task, ifVersion: number | undefined): boolean {
  return ifVersion !== undefined && version !== ifVersion
}

function changed(task: Task): Changed {
  return { kind: 'changed', task }
}
