import type { Next, Settlement } from '../../task/settle.ts'
import type { AttemptEnd, AttemptRow, TaskState } from '../../task/task.ts'
import type { HeldLease, Settled } from '../task-store.ts'
import type { Book, Entry } from './book.ts'

/** What happened to a lease, and to whom: a task that waits again is perhaps news to its steward. */
export interface EndedLease<Result> {
  readonly result: Result
  readonly entry?: Entry
}

export function settle(book: Book, { taskId, token, attempt, next }: Settlement, now: number): EndedLease<Settled> {
  const entry = book.find(taskId)
  const state = entry?.task.state
  if (entry === undefined || state === undefined) return { result: { kind: 'lost' } }
  if (state.status !== 'IN_FLIGHT') return { result: answerAgain(entry, token) }
  if (state.lease.token !== token) return { result: { kind: 'lost' } }

  const { progress } = next
  const isCancelled = state.lease.cancelRequested && next.status !== 'SUCCEEDED'
  const ended: TaskState = isCancelled ? { status: 'CANCELLED', endedAt: now } : stateOf(next, now)
  if (attempt !== undefined) book.addAttempt(entry, attempt)
  book.write(entry, { state: ended, progress, ...(attempt !== undefined && { lastAttempt: endOf(attempt) }) })
  entry.settled = { token, status: ended.status }
  return { result: { kind: 'settled', status: ended.status }, entry }
}

/** A settle that got no answer is sent again, and hears what it would have heard. */
function answerAgain({ settled }: Entry, token: string): Settled {
  return settled?.token === token ? { kind: 'settled', status: settled.status } : { kind: 'lost' }
}

function stateOf(next: Next, now: number): TaskState {
  switch (next.status) {
    case 'PENDING':
      return { status: 'PENDING', nextAttemptAt: next.dueAt, queue: next.queue }
    case 'SUCCEEDED':
      return { status: 'SUCCEEDED', endedAt: now }
    case 'EXHAUSTED':
      return {
        status: 'EXHAUSTED',
        endedAt: now,
        reason: next.reason,
        ...(next.held !== undefined && { held: next.held }),
      }
  }
}

function endOf({ outcome, responseStatus, errorCode, errorMessage }: AttemptRow): AttemptEnd {
  return {
    outcome,
    ...(responseStatus !== undefined && { responseStatus }),
    ...(errorCode !== undefined && { errorCode }),
    ...(errorMessage !== undefined && { errorMessage }),
  }
}

export function release(book: Book, { taskId, token }: HeldLease, now: number): EndedLease<'released' | 'lost'> {
  const entry = book.find(taskId)
  const state = entry?.task.state
  if (entry?.claimed === undefined || state?.status !== 'IN_FLIGHT' || state.lease.token !== token)
    return { result: 'lost' }
  const { dueAt, queue } = entry.claimed
  book.write(entry, {
    // Put back, a cancelled task would be sent all the same.
    state: state.lease.cancelRequested
      ? { status: 'CANCELLED', endedAt: now }
      : { status: 'PENDING', nextAttemptAt: dueAt, queue },
  })
  return { result: 'released', entry }
}
